/* SPDX-License-Identifier: MIT */
/* check_across.c: a scheme that claims to act across two sequences, in a model that has two. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "checkrig.h"

/* Places of a source: another number than those of the decoder. */
enum { SOURCE_T = 4 };

static const double near = 1e-9;

/* Rows of the decoder and a source of `S` places for each, of which those from SOURCE_T on are
 * padding. */
static struct rig_input two_sequences(struct rig *r, int64_t S)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    int32_t *source = ARENA_ARRAY(&r->arena, RIG_B * S, int32_t);
    uint8_t *pad = ARENA_ARRAY(&r->arena, RIG_B * S, uint8_t);
    uint8_t *special = ARENA_ARRAY(&r->arena, RIG_B * S, uint8_t);
    uint64_t stream = rng_stream(1, "check", "source");
    for (int64_t i = 0; i < RIG_B * S; i++) {
        uint64_t place = (uint64_t)(1000 * (i / S) + i % S);
        source[i] = (int32_t)(rng_bits(stream, place) % RIG_V);
        pad[i] = i % S >= SOURCE_T;
        special[i] = 0;
    }
    x.in.S = S;
    x.in.source = source;
    x.in.source_pad = pad;
    x.in.source_special = special;
    return x;
}

static enum verdict same(const double *a, const double *b, int64_t n, const char *between,
                         struct strbuf *why)
{
    int64_t at;
    double apart = rig_distance(a, b, n, &at);
    if (apart <= near)
        return CHECK_PASSED;
    return check_failed(why, "across two sequences logits differ by %.3g %s", apart, between);
}

static enum verdict all_finite(const double *logits, struct strbuf *why)
{
    for (int64_t i = 0; i < RIG_B * RIG_T * RIG_V; i++)
        if (!isfinite(logits[i]))
            return check_failed(why, "across two sequences a logit is %g", logits[i]);
    return CHECK_PASSED;
}

/* The newest rows have all of the source, and positions that do not begin at 0. */
static enum verdict stored_rows(struct situation *s, struct rig *r, const struct model_input *in,
                                const double *whole)
{
    struct stored stored;
    const char *id;
    if (model_not_storable(&r->model, &id))
        return CHECK_PASSED;
    if (model_store(&r->model, in, &r->team, &r->arena, &stored, &r->err) != PEAT_OK)
        return rig_broken(r, s->why);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t end = 2; end <= RIG_T && verdict == CHECK_PASSED; end++) {
        const double *newest = rig_newest(r, &stored, end);
        if (!newest)
            return rig_broken(r, s->why);
        for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++)
            verdict = same(whole + (b * RIG_T + end - 1) * RIG_V, newest + b * RIG_V, RIG_V,
                           "between a pass over all rows and one over the newest", s->why);
    }
    return verdict;
}

/* The loss along the gradient rises as the gradient says. */
static enum verdict gradient(struct situation *s, struct rig *r, const struct model_input *in)
{
    const double h = 1e-5;
    struct weights *w = &r->model.weights;
    double *value = w->value, *grad = w->grad, length = 0, loss[2];
    rig_step(r, in, true);
    for (int64_t i = 0; i < w->size; i++)
        length += grad[i] * grad[i];
    length = sqrt(length);
    double *first = ARENA_ARRAY(&r->arena, w->size, double);
    memcpy(first, value, (size_t)w->size * sizeof(*value));
    for (int side = 0; side < 2; side++) {
        for (int64_t i = 0; i < w->size; i++)
            value[i] = first[i] + (side ? -h : h) * grad[i] / length;
        loss[side] = rig_step(r, in, false);
    }
    memcpy(value, first, (size_t)w->size * sizeof(*value));
    double rise = (loss[0] - loss[1]) / (2 * h);
    if (fabs(rise - length) <= 1e-5 * length)
        return CHECK_PASSED;
    return check_failed(s->why,
                        "across two sequences the gradient is %.6g long, and the loss rises by "
                        "%.6g along it",
                        length, rise);
}

static enum verdict threads(struct situation *s, struct rig *r, const struct model_input *in,
                            const double *one)
{
    int own = r->team.threads;
    r->team.threads = 3;
    const double *three = rig_logits(r, in);
    r->team.threads = own;
    if (!three)
        return rig_broken(r, s->why);
    if (memcmp(one, three, RIG_B * RIG_T * RIG_V * sizeof(*one)) == 0)
        return CHECK_PASSED;
    return check_failed(s->why, "across two sequences 3 threads give other bits than %d", own);
}

static enum verdict across_of(struct situation *s, struct rig *r)
{
    const struct rig_input x = two_sequences(r, SOURCE_T), longer = two_sequences(r, SOURCE_T + 3);
    const double *logits = rig_logits(r, &x.in);
    const double *padded = logits ? rig_logits(r, &longer.in) : NULL;
    if (!padded)
        return rig_broken(r, s->why);
    enum verdict verdict = all_finite(logits, s->why);
    bool by_length = subject_scheme(s->subject)->needs & PEAT_NEED_LENGTH;
    if (verdict == CHECK_PASSED && !by_length)
        verdict = same(logits, padded, RIG_B * RIG_T * RIG_V, "when a source is padded", s->why);
    if (verdict == CHECK_PASSED)
        verdict = stored_rows(s, r, &x.in, logits);
    if (verdict == CHECK_PASSED)
        verdict = threads(s, r, &x.in, logits);
    return verdict == CHECK_PASSED ? gradient(s, r, &x.in) : verdict;
}

/* With the parameters as given. Weights are the same with and without. */
static enum verdict acts(const struct subject *s, const struct variant *v, struct strbuf *why)
{
    const double *logits[2];
    struct rig *r[2];
    enum verdict verdict = CHECK_PASSED;
    for (int i = 0; i < 2; i++) {
        const struct rig_plan plan = {.arch = PEAT_SEQ2SEQ, .dtype = PEAT_F64, .across = i};
        r[i] = ARENA_NEW(s->arena, struct rig);
        logits[i] = NULL;
        if (rig_open(r[i], s, v, &plan) != PEAT_OK)
            continue;
        const struct rig_input x = two_sequences(r[i], SOURCE_T);
        logits[i] = rig_logits(r[i], &x.in);
    }
    if (logits[0] && logits[1] &&
        memcmp(logits[0], logits[1], RIG_B * RIG_T * RIG_V * sizeof(**logits)) == 0)
        verdict = check_failed(why, "it claims to act across two sequences, but where.across "
                                    "changes no logit");
    rig_close(r[0]);
    rig_close(r[1]);
    return verdict;
}

enum verdict check_across(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64, .across = true};
    struct error err = {0};
    if (!(subject_scheme(s)->traits & PEAT_ACROSS))
        return check_skipped(why, "not claimed");
    const struct variants *v = variants_make(s, &err);
    if (!v)
        return check_skipped(why, "%s", err.text);
    enum verdict verdict = acts(s, &v->item[0], why);
    return verdict == CHECK_PASSED ? rig_each_of(s, PEAT_SEQ2SEQ, &plan, why, across_of) : verdict;
}
