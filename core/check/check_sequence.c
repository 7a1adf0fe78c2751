/* SPDX-License-Identifier: MIT */
/* check_sequence.c: what a place of a sequence may depend on. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checkrig.h"
#include "nn/attention.h"

/* F64 values that are equal but for the order of sums. */
static const double limit = 1e-9;

static const struct rig_plan in_f64 = {.dtype = PEAT_F64};

/* n places of logits that should be equal; `what` ends the message. */
static enum verdict compare(struct situation *s, const double *a, const double *b, int64_t n,
                            int64_t first, const char *what)
{
    int64_t at;
    double worst = rig_distance(a, b, n * RIG_V, &at);
    if (worst <= limit)
        return CHECK_PASSED;
    return check_failed(s->why, "the logits at place %" PRId64 " differ by %.2g %s",
                        first + at / RIG_V, worst, what);
}

/* ---- the future ---- */

/* Another token at `t` in all rows must not be seen before it. */
static enum verdict change_at(struct situation *s, struct rig *r, const double *base, int64_t t)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        x.token[b * RIG_T + t] = 40 + (x.token[b * RIG_T + t] - 39) % (RIG_V - 40);
    const double *logit = rig_logits(r, &x.in);
    if (!logit)
        return rig_broken(r, s->why);
    char what[64];
    snprintf(what, sizeof(what), "when the token at place %" PRId64 " changes", t);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++)
        verdict = compare(s, base + b * RIG_T * RIG_V, logit + b * RIG_T * RIG_V, t, 0, what);
    return verdict;
}

static enum verdict causality_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    const double *base = rig_logits(r, &x.in);
    if (!base)
        return rig_broken(r, s->why);
    enum verdict verdict = CHECK_PASSED;
    for (int64_t t = 1; t < RIG_T && verdict == CHECK_PASSED; t++)
        verdict = change_at(s, r, base, t);
    return verdict;
}

enum verdict check_causality(const struct subject *s, struct strbuf *why)
{
    return rig_each_of(s, PEAT_DECODER, &in_f64, why, causality_of);
}

/* Tokens [0, n) of every row, as decoding gives them. */
static struct rig_input prefix_input(struct rig *r, int64_t n)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        memmove(x.token + b * n, x.token + b * RIG_T, (size_t)n * sizeof(*x.token));
    x.in.T = n;
    x.in.T_total = RIG_T;
    return x;
}

static enum verdict prefix_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    const double *whole = rig_logits(r, &x.in);
    enum verdict verdict = whole ? CHECK_PASSED : rig_broken(r, s->why);
    for (int64_t n = 1; n < RIG_T && verdict == CHECK_PASSED; n++) {
        struct rig_input y = prefix_input(r, n);
        const double *part = rig_logits(r, &y.in);
        char what[64];
        snprintf(what, sizeof(what), "between %d tokens and their first %" PRId64, RIG_T, n);
        if (!part)
            return rig_broken(r, s->why);
        for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++)
            verdict = compare(s, whole + b * RIG_T * RIG_V, part + b * n * RIG_V, n, 0, what);
    }
    return verdict;
}

enum verdict check_prefix(const struct subject *s, struct strbuf *why)
{
    return rig_each_of(s, PEAT_DECODER, &in_f64, why, prefix_of);
}

/* ---- rows ---- */

/* Tokens [begin, end) of row b alone, in a sequence planned to be RIG_T long. */
static const double *alone(struct rig *r, int64_t b, int64_t begin, int64_t end)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    x.in.B = 1;
    x.in.T = end - begin;
    x.in.T_total = RIG_T;
    x.in.token = x.token + b * RIG_T + begin;
    x.in.sequence = x.sequence + b;
    return rig_logits(r, &x.in);
}

/* `in` holds rows in places [from[b], to[b]); each must give what it gives alone. */
static enum verdict rows_alone(struct situation *s, struct rig *r, const struct model_input *in,
                               const int64_t *from, const int64_t *to, const char *what)
{
    const double *all = rig_logits(r, in);
    enum verdict verdict = all ? CHECK_PASSED : rig_broken(r, s->why);
    for (int64_t b = 0; b < RIG_B && verdict == CHECK_PASSED; b++) {
        const double *one = alone(r, b, from[b], to[b]);
        verdict = one ? compare(s, all + (b * RIG_T + from[b]) * RIG_V, one, to[b] - from[b],
                                from[b], what)
                      : rig_broken(r, s->why);
    }
    return verdict;
}

static enum verdict batch_of(struct situation *s, struct rig *r)
{
    static const int64_t from[RIG_B] = {0}, to[RIG_B] = {RIG_T, RIG_T, RIG_T};
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    return rows_alone(s, r, &x.in, from, to, "between a row in a batch and the row alone");
}

enum verdict check_batch(const struct subject *s, struct strbuf *why)
{
    enum verdict verdict = rig_each(s, &in_f64, why, batch_of);
    const struct rig_plan moved = {.dtype = PEAT_F64, .moved = true};
    return verdict == CHECK_PASSED ? rig_each(s, &moved, why, batch_of) : verdict;
}

static enum verdict pad_rows(struct situation *s, struct rig *r, const int64_t *from,
                             const int64_t *to, const char *what)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        for (int64_t t = 0; t < RIG_T; t++)
            x.pad[b * RIG_T + t] = t < from[b] || t >= to[b];
    x.in.pad = x.pad;
    return rows_alone(s, r, &x.in, from, to, what);
}

static enum verdict padding_of(struct situation *s, struct rig *r)
{
    static const int64_t zero[RIG_B] = {0, 0, 0}, some[RIG_B] = {0, 1, 3};
    static const int64_t less[RIG_B] = {6, 4, 3}, full[RIG_B] = {RIG_T, RIG_T, RIG_T};
    enum verdict verdict =
        pad_rows(s, r, zero, less, "between a row with padding after it and the row alone");
    return verdict == CHECK_PASSED
               ? pad_rows(s, r, some, full,
                          "between a row with padding before it and the row alone")
               : verdict;
}

/* A hook that draws positions for a whole row cannot know which of them will be looked at. */
static bool draws_positions(const struct subject *s)
{
    const peat_scheme *scheme = subject_scheme(s);
    return scheme && scheme->positions;
}

enum verdict check_padding(const struct subject *s, struct strbuf *why)
{
    if (draws_positions(s))
        return check_skipped(why, "it changes the positions of whole rows");
    return rig_each(s, &in_f64, why, padding_of);
}

/* Places [0, 2) of each row are one document, the rest another. */
static enum verdict packing_of(struct situation *s, struct rig *r)
{
    enum { SPLIT = 2 };
    static const int64_t zero[RIG_B] = {0, 0, 0}, split[RIG_B] = {SPLIT, SPLIT, SPLIT};
    static const int64_t full[RIG_B] = {RIG_T, RIG_T, RIG_T};
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    for (int64_t i = 0; i < RIG_B * RIG_T; i++)
        x.document[i] = i % RIG_T >= SPLIT;
    x.in.document = x.document;
    const char *what = "between a document packed with another and the document alone";
    enum verdict verdict = rows_alone(s, r, &x.in, zero, split, what);
    return verdict == CHECK_PASSED ? rows_alone(s, r, &x.in, split, full, what) : verdict;
}

enum verdict check_packing(const struct subject *s, struct strbuf *why)
{
    if (draws_positions(s))
        return check_skipped(why, "it changes the positions of whole rows");
    return rig_each(s, &in_f64, why, packing_of);
}

/* ---- attention paths ---- */

static enum verdict paths_of(struct situation *s, struct rig *fused)
{
    struct rig *composed = ARENA_NEW(s->subject->arena, struct rig);
    struct rig_plan plan = s->plan;
    plan.path = PATH_COMPOSED;
    enum verdict verdict = CHECK_PASSED;
    peat_status status = rig_open(composed, s->subject, s->variant, &plan);
    struct rig_input x = rig_input(fused, RIG_B, RIG_T);
    const double *a = rig_logits(fused, &x.in), *b = NULL;
    if (status == PEAT_OK)
        b = rig_logits(composed, &x.in);
    if (!a)
        verdict = rig_broken(fused, s->why);
    else if (!b)
        verdict = rig_broken(composed, s->why);
    else
        verdict = compare(s, a, b, RIG_B * RIG_T, 0, "between fused and composed attention");
    rig_close(composed);
    return verdict;
}

enum verdict check_paths(const struct subject *s, struct strbuf *why)
{
    const char *composed = scheme_needs_composed(subject_scheme(s));
    const struct rig_plan plan = {.dtype = PEAT_F64, .path = PATH_FUSED};
    if (composed)
        return check_skipped(why, "it works on %s, which has the composed path alone", composed);
    return rig_each(s, &plan, why, paths_of);
}
