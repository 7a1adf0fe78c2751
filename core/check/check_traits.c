/* SPDX-License-Identifier: MIT */
/* check_traits.c: claims, executed. */
#include <inttypes.h>
#include <math.h>

#include "checkrig.h"

static const double limit = 1e-9;

static bool claims(const struct subject *s, peat_trait trait)
{
    return subject_scheme(s)->traits & trait;
}

static enum verdict not_claimed(struct strbuf *why)
{
    return check_skipped(why, "not claimed");
}

/* ---- shift ---- */

static enum verdict shifted(struct situation *s, struct rig *r, const struct rig_input *x,
                            const double *before, double shift)
{
    r->shift = shift;
    const double *after = rig_logits(r, &x->in);
    r->shift = 0;
    if (!after)
        return rig_broken(r, s->why);
    int64_t at;
    double worst = rig_distance(before, after, x->in.B * x->in.T * RIG_V, &at);
    if (worst <= limit)
        return CHECK_PASSED;
    return check_failed(s->why,
                        "it claims to be shift-invariant, but the logits at place %" PRId64
                        " differ by %.2g when all positions move by %g",
                        at / RIG_V % x->in.T, worst, shift);
}

/* What has a period, or begins far out, agrees at one shift and not at all of these. */
static enum verdict shift_of(struct situation *s, struct rig *r)
{
    static const double shifts[] = {7, 1, 61, 1000, 12345};
    static const int64_t lengths[] = {RIG_T, RIG_LONG};
    enum verdict verdict = CHECK_PASSED;
    for (int k = 0; k < 2 && verdict == CHECK_PASSED; k++) {
        struct rig_input x = rig_input(r, k == 0 ? RIG_B : 1, lengths[k]);
        const double *before = rig_logits(r, &x.in);
        if (!before)
            return rig_broken(r, s->why);
        for (size_t i = 0; i < sizeof(shifts) / sizeof(*shifts) && verdict == CHECK_PASSED; i++)
            verdict = shifted(s, r, &x, before, shifts[i]);
    }
    return verdict;
}

enum verdict check_shift_invariant(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64, .moved = true};
    return claims(s, PEAT_SHIFT_INVARIANT) ? rig_each(s, &plan, why, shift_of) : not_claimed(why);
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

static enum verdict compare_norms(struct strbuf *why, const char *what, const peat_node *before,
                                  const peat_node *after)
{
    const int64_t *dim = before->value.dim;
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        double a = row_norm(before, row), b = row_norm(after, row);
        if (!(fabs(a - b) <= limit * fmax(1, a)))
            return check_failed(why,
                                "it claims to preserve norms, but makes a %s at place %" PRId64
                                " of %.*g one of %.*g",
                                what, row % dim[2], rig_digits(a, b), a, rig_digits(a, b), b);
    }
    return CHECK_PASSED;
}

enum verdict norms_hold(struct rig *r, const struct model_input *in, struct strbuf *why)
{
    struct graph g;
    if (!rig_loss(r, &g, in))
        return rig_broken(r, why);
    enum verdict verdict = CHECK_PASSED;
    for (int l = 0; l < 2 && verdict == CHECK_PASSED; l++) {
        verdict = compare_norms(why, "query", r->before.q[l], r->after.q[l]);
        if (verdict == CHECK_PASSED)
            verdict = compare_norms(why, "key", r->before.k[l], r->after.k[l]);
    }
    return verdict;
}

static enum verdict norms_of(struct situation *s, struct rig *r)
{
    struct rig_input x = rig_input(r, RIG_B, RIG_T);
    return norms_hold(r, &x.in, s->why);
}

enum verdict check_norm_preserving(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64};
    if (!claims(s, PEAT_NORM_PRESERVING))
        return not_claimed(why);
    if (!subject_scheme(s)->qkv)
        return check_failed(why, "it claims to preserve norms, which is for schemes with qkv");
    return rig_each(s, &plan, why, norms_of);
}

/* ---- order ---- */

static enum verdict permutation_of(struct situation *s, struct rig *r)
{
    static const int64_t from[RIG_T] = {3, 0, 5, 1, 4, 2};
    struct rig_input x = rig_input(r, RIG_B, RIG_T), y = rig_input(r, RIG_B, RIG_T);
    for (int64_t b = 0; b < RIG_B; b++)
        for (int64_t t = 0; t < RIG_T; t++)
            y.token[b * RIG_T + t] = x.token[b * RIG_T + from[t]];
    const double *before = rig_logits(r, &x.in), *after = before ? rig_logits(r, &y.in) : NULL;
    if (!after)
        return rig_broken(r, s->why);
    for (int64_t i = 0; i < RIG_B * RIG_T; i++) {
        int64_t source = i / RIG_T * RIG_T + from[i % RIG_T], at;
        double worst = rig_distance(before + source * RIG_V, after + i * RIG_V, RIG_V, &at);
        if (!(worst <= limit))
            return check_failed(s->why,
                                "it claims to be permutation-equivariant, but the logits of a "
                                "token moved from place %" PRId64 " to %" PRId64 " differ by %.2g",
                                from[i % RIG_T], i % RIG_T, worst);
    }
    return CHECK_PASSED;
}

enum verdict check_permutation_equivariant(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64};
    return claims(s, PEAT_PERMUTATION_EQUIVARIANT)
               ? rig_each_of(s, PEAT_ENCODER, &plan, why, permutation_of)
               : not_claimed(why);
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
        struct rig_input x = rig_input(r, RIG_B, RIG_T + 1);
        refuses = !rig_logits(r, &x.in);
    }
    rig_close(r);
    return refuses;
}

enum verdict check_finite_length(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    if (!claims(s, PEAT_FINITE_LENGTH))
        return not_claimed(why);
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

enum verdict check_needs_causal(const struct subject *s, struct strbuf *why)
{
    struct error err = {0};
    const struct rig_plan plan = {.arch = PEAT_ENCODER, .dtype = PEAT_F64, .shape_only = true};
    if (!claims(s, PEAT_NEEDS_CAUSAL))
        return not_claimed(why);
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

static enum verdict trainable_of(struct situation *s, struct rig *r)
{
    for (int i = 0; i < r->positional.n_scheme; i++) {
        const struct scheme_part *part = &r->positional.scheme[i];
        const char *name = part->hooks == subject_scheme(s->subject)
                               ? trained_tensor(&part->part, r->model.dims.L)
                               : NULL;
        if (name)
            return check_failed(s->why, "it claims to have no trained tensors, but registers '%s'",
                                name);
    }
    return CHECK_PASSED;
}

enum verdict check_no_trainable(const struct subject *s, struct strbuf *why)
{
    const struct rig_plan plan = {.dtype = PEAT_F64, .shape_only = true};
    return claims(s, PEAT_NO_TRAINABLE) ? rig_each(s, &plan, why, trainable_of) : not_claimed(why);
}

enum verdict check_content_dependent(const struct subject *s, struct strbuf *why)
{
    enum { SEES = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_W | PEAT_NEED_PROJECT | PEAT_NEED_TOKENS };
    const peat_scheme *h = subject_scheme(s);
    if (!claims(s, PEAT_CONTENT_DEPENDENT))
        return not_claimed(why);
    if (h->needs & SEES || scheme_acts_on(h, ACTS_IN_LAYERS & ~ACTS_ON_TERMS))
        return CHECK_PASSED;
    return check_failed(why, "it claims to depend on content, but asks for none: no hook sees "
                             "tokens, queries, keys or scores");
}
