/* SPDX-License-Identifier: MIT */
/* check_traits.c: runs a plugin to check the traits that it claims. */

#include "property.h"

static const double limit = 1e-9;

void shift_holds(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    const double *before = rig_logits(t->rig, &x.in);
    t->rig->moves.by = trial_shift(t);
    trial_same(t, before, rig_logits(t->rig, &x.in), x.in.B * x.in.T, 0,
               arena_printf(&t->rig->arena, "when all positions move by %g", t->rig->moves.by));
}

/* |x| of one row of x [B,H,T,C]; `row` is its flat index. */
static double row_norm(const peat_node *x, int64_t row)
{
    int64_t C = x->value.dim[3];
    double sum = 0;
    for (int64_t i = 0; i < C; i++)
        sum += pow(tensor_get(&x->value, row * C + i), 2);
    return sqrt(sum);
}

static void compare_norms(const struct trial *t, const char *what, const peat_node *before,
                          const peat_node *after)
{
    const int64_t *dim = before->value.dim;
    for (int64_t row = 0; row < dim[0] * dim[1] * dim[2]; row++) {
        double a = row_norm(before, row), b = row_norm(after, row);
        if (!(fabs(a - b) <= limit * fmax(1, a)))
            trial_fail(t, "makes a %s at place %" PRId64 " of %.*g one of %.*g", what, row % dim[2],
                       rig_digits(a, b), a, rig_digits(a, b), b);
    }
}

void norms_hold(const struct trial *t)
{
    struct graph g;
    struct rig *r = t->rig;
    struct rig_input x = trial_input(t);
    if (!checked_scheme(t->subject)->qkv)
        trial_fail(t, "has no hook qkv");
    else
        rig_loss(r, &g, &x.in);
    /* before.q is NULL where the scheme is tried without its hook qkv. */
    for (int l = 0; l < CASE_LAYERS && t->o->verdict == CHECK_PASSED && r->before.q[l]; l++) {
        compare_norms(t, "query", r->before.q[l], r->after.q[l]);
        compare_norms(t, "key", r->before.k[l], r->after.k[l]);
    }
}

/* A permutation of the places of a sequence, the same for all rows. */
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

void permutation_holds(const struct trial *t)
{
    const int64_t *from = draw_permutation(t);
    struct rig_input x = trial_input(t), y = trial_input(t);
    int64_t T = x.in.T;
    for (int64_t i = 0; i < x.in.B * T; i++)
        y.token[i] = x.token[i / T * T + from[i % T]];
    const double *before = rig_logits(t->rig, &x.in), *after = rig_logits(t->rig, &y.in);
    for (int64_t i = 0; i < x.in.B * T; i++)
        trial_same(t, logits_at(before, i / T * T + from[i % T]), logits_at(after, i), 1, i,
                   arena_printf(&t->rig->arena, "when its token moves there from place %" PRId64,
                                from[i % T]));
}

/* For the parameters as given: others may turn `across` off. Both models have equal weights. */
void acts_across(const struct trial *t)
{
    struct rig_input x = trial_input(t);
    struct rig_plan plan = trial_plan(t);
    plan.apart = true;
    struct rig *apart = rig_open(t->subject, t->variant, &plan, t->o);
    const double *with = rig_logits(t->rig, &x.in);
    const double *without = apart->status == PEAT_OK ? rig_logits(apart, &x.in) : NULL;
    size_t n = (size_t)(x.in.B * x.in.T * RIG_V);
    if (!*t->variant->text && with && without && memcmp(with, without, n * sizeof(*with)) == 0)
        trial_fail(t, "where.across changes no logit");
    rig_close(apart);
}

/* ---- refusals ---- */

/* Whether a model of the plan is refused: at set-up, or by its pass over T tokens unless T is 0. */
static bool refuses(const struct checked *s, const struct rig_plan *plan, int64_t T,
                    struct check_outcome *o)
{
    struct check_outcome ignored = {CHECK_PASSED};
    struct variant v;
    if (!checked_variant(s, &v, o))
        return false;
    struct rig *r = rig_open(s, &v, plan, &ignored);
    bool refused = r->status == PEAT_REFUSED;
    if (r->status == PEAT_OK && T > 0) {
        struct rig_input x = rig_input(r, 1, T);
        refused = !rig_logits(r, &x.in);
    }
    rig_close(r);
    return refused;
}

void finite_length(const struct checked *s, struct check_outcome *o)
{
    struct rig_plan plan = {.dtype = PEAT_F64, .T_max = RIG_T};
    bool refused = refuses(s, &plan, RIG_T + 1, o);
    plan.shape_only = true;
    for (plan.T_max = 2 * RIG_T_MAX; plan.T_max <= 1 << 17 && !refused; plan.T_max *= 2)
        refused = refuses(s, &plan, 0, o);
    if (!refused && o->verdict == CHECK_PASSED)
        check_fail(o,
                   "it claims a finite length, but takes sequences of %d in a model for %d, and "
                   "models for %d",
                   RIG_T + 1, RIG_T, 1 << 17);
}

void needs_causal(const struct checked *s, struct check_outcome *o)
{
    const struct rig_plan plan = {.arch = PEAT_ENCODER, .dtype = PEAT_F64, .shape_only = true};
    if (!refuses(s, &plan, 0, o) && o->verdict == CHECK_PASSED)
        check_fail(o, "it claims to need a causal model, but an encoder accepts it");
}

static void not_trained(const struct trial *t, const struct part *part)
{
    for (int i = 0; i < part->n_weight; i++) {
        const struct scheme_weight *w = &part->weight[i];
        for (int64_t l = 0; l < (w->scope == PEAT_PER_LAYER ? t->rig->model.dims.L : 1); l++)
            if (w->layer[l] && !w->layer[l]->frozen)
                trial_fail(t, "registers '%s'", w->name);
    }
}

void nothing_trained(const struct trial *t)
{
    const struct positional *p = &t->rig->positional;
    for (int i = 0; i < p->n_scheme; i++)
        if (p->scheme[i].part.config == t->rig->config)
            not_trained(t, &p->scheme[i].part);
}

void content_dependent(const struct checked *s, struct check_outcome *o)
{
    enum { SEES = PEAT_NEED_QK | PEAT_NEED_X | PEAT_NEED_W | PEAT_NEED_PROJECT | PEAT_NEED_TOKENS };
    const peat_scheme *h = checked_scheme(s);
    if (!(h->needs & SEES) && !scheme_acts_on(h, ACTS_IN_LAYERS & ~ACTS_ON_TERMS))
        check_fail(o, "it claims to depend on content, but asks for none: no hook sees tokens, "
                      "queries, keys or scores");
}
