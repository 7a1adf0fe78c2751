/* SPDX-License-Identifier: MIT */
/* check_traits.c: claims, executed. */
#include <inttypes.h>
#include <math.h>

#include "base/rng.h"
#include "property.h"

static const double limit = 1e-9;

/* ---- shift ---- */

enum verdict shift_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *before = rig_logits(t->rig, &x.in);
    t->rig->shift = (double)t->c->shift;
    const double *after = before ? rig_logits(t->rig, &x.in) : NULL;
    return trial_same(
        t, before, after, x.in.B * x.in.T, 0,
        arena_printf(&t->rig->arena, "when all positions move by %" PRId64, t->c->shift));
}

/* ---- norms ---- */

/* |x| of row `row` of [B,H,T,C], by flat index. */
static double row_norm(const peat_node *x, int64_t row)
{
    int64_t C = x->value.dim[3];
    double sum = 0;
    for (int64_t i = 0; i < C; i++)
        sum += pow(tensor_get(&x->value, row * C + i), 2);
    return sqrt(sum);
}

static enum verdict compare_norms(const struct trial *t, const char *what, const peat_node *before,
                                  const peat_node *after)
{
    const int64_t *dim = before->value.dim;
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        double a = row_norm(before, row), b = row_norm(after, row);
        if (!(fabs(a - b) <= limit * fmax(1, a)))
            return trial_failed(t, "makes a %s at place %" PRId64 " of %.*g one of %.*g", what,
                                row % dim[2], rig_digits(a, b), a, rig_digits(a, b), b);
    }
    return CHECK_PASSED;
}

enum verdict norms_hold(const struct trial *t)
{
    struct graph g;
    struct rig *r = t->rig;
    struct rig_input x = trial_input(t);
    enum verdict verdict = CHECK_PASSED;
    if (!subject_scheme(t->subject)->qkv)
        return trial_failed(t, "has no hook qkv");
    if (!rig_loss(r, &g, &x.in))
        return trial_broken(t);
    for (int l = 0; l < 2 && verdict == CHECK_PASSED; l++) {
        verdict = compare_norms(t, "query", r->before.q[l], r->after.q[l]);
        if (verdict == CHECK_PASSED)
            verdict = compare_norms(t, "key", r->before.k[l], r->after.k[l]);
    }
    return verdict;
}

/* ---- order ---- */

/* Of the places of a sequence; the same in all rows. */
static int64_t *draw_permutation(const struct trial *t)
{
    int64_t T = t->c->length, *from = ARENA_ARRAY(&t->rig->arena, T, int64_t);
    uint64_t stream = rng_stream((uint64_t)t->c->seed, "check case", "permutation");
    for (int64_t i = 0; i < T; i++) {
        int64_t k = (int64_t)(rng_bits(stream, (uint64_t)i) % (uint64_t)(i + 1));
        from[i] = from[k];
        from[k] = i;
    }
    return from;
}

enum verdict permutation_holds(const struct trial *t)
{
    const int64_t *from = draw_permutation(t);
    struct rig_input x = trial_input(t), y = trial_input(t);
    int64_t T = x.in.T, at;
    for (int64_t i = 0; i < x.in.B * T; i++)
        y.token[i] = x.token[i / T * T + from[i % T]];
    const double *before = rig_logits(t->rig, &x.in);
    const double *after = before ? rig_logits(t->rig, &y.in) : NULL;
    if (!after)
        return trial_broken(t);
    for (int64_t i = 0; i < x.in.B * T; i++) {
        int64_t source = i / T * T + from[i % T];
        double worst = rig_distance(before + source * RIG_V, after + i * RIG_V, RIG_V, &at);
        if (!(worst <= limit))
            return trial_failed(t,
                                "the logits of a token moved from place %" PRId64 " to %" PRId64
                                " differ by %.2g",
                                from[i % T], i % T, worst);
    }
    return CHECK_PASSED;
}

/* ---- refusals ---- */

/* Whether set-up refuses sequences of this length; other failures are in err. */
static bool refuses_length(const struct subject *s, const struct variant *v, int64_t T_max,
                           struct error *err)
{
    const struct rig_plan plan = {.dtype = PEAT_F64, .T_max = T_max, .shape_only = true};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    peat_status status = rig_open(r, s, v, &plan);
    if (status != PEAT_OK && status != PEAT_REFUSED)
        *err = r->err;
    rig_close(r);
    return status == PEAT_REFUSED;
}

/* A model for sequences of RIG_T that is given one more: an error, and no number, must come out. */
static bool refuses_beyond(const struct subject *s, const struct variant *v)
{
    const struct rig_plan plan = {.dtype = PEAT_F64, .T_max = RIG_T};
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    bool refuses = false;
    if (rig_open(r, s, v, &plan) == PEAT_OK) {
        struct rig_input x = rig_input(r, 1, RIG_T + 1);
        refuses = !rig_logits(r, &x.in);
    }
    rig_close(r);
    return refuses;
}

enum verdict finite_length(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    const struct variants *v = variants_make(s, &err);
    if (!v)
        return check_skipped(why, "%s", err.text);
    if (refuses_beyond(s, &v->item[0]))
        return CHECK_PASSED;
    for (int64_t T = 2 * RIG_T_MAX; T <= 1 << 17; T *= 2)
        if (refuses_length(s, &v->item[0], T, &err))
            return CHECK_PASSED;
    return check_failed(why,
                        "it claims a finite length, but takes sequences of %d in a model for %d, "
                        "and models for %d",
                        RIG_T + 1, RIG_T, 1 << 17);
}

enum verdict needs_causal(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    const struct rig_plan plan = {.arch = PEAT_ENCODER, .dtype = PEAT_F64, .shape_only = true};
    const struct variants *v = variants_make(s, &err);
    if (!v)
        return check_skipped(why, "%s", err.text);
    struct rig *r = ARENA_NEW(s->arena, struct rig);
    peat_status status = rig_open(r, s, &v->item[0], &plan);
    rig_close(r);
    return status == PEAT_REFUSED
               ? CHECK_PASSED
               : check_failed(why, "it claims to need a causal model, but an encoder takes it");
}

/* ---- declarations ---- */

/* The first trained tensor that setup asked for; NULL: none. */
static const char *trained_tensor(const struct part *part, int64_t L)
{
    for (int i = 0; i < part->n_weight; i++) {
        const struct scheme_weight *w = &part->weight[i];
        for (int64_t l = 0; l < (w->scope == PEAT_PER_LAYER ? L : 1); l++)
            if (w->layer[l] && !w->layer[l]->frozen)
                return w->name;
    }
    return NULL;
}

enum verdict nothing_trained(const struct trial *t)
{
    for (int i = 0; i < t->rig->positional.n_scheme; i++) {
        const struct scheme_part *part = &t->rig->positional.scheme[i];
        const char *name = part->part.config == t->rig->config
                               ? trained_tensor(&part->part, t->rig->model.dims.L)
                               : NULL;
        if (name)
            return trial_failed(t, "registers '%s'", name);
    }
    return CHECK_PASSED;
}

enum verdict content_dependent(const struct subject *s, struct strbuf *why)
{
    enum { SEES = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_W | PEAT_NEED_PROJECT | PEAT_NEED_TOKENS };
    const peat_scheme *h = subject_scheme(s);
    if (h->needs & SEES || scheme_acts_on(h, ACTS_IN_LAYERS & ~ACTS_ON_TERMS))
        return CHECK_PASSED;
    return check_failed(why, "it claims to depend on content, but asks for none: no hook sees "
                             "tokens, queries, keys or scores");
}
