/* SPDX-License-Identifier: MIT */
/* diet_rel.c: a trained logit per head for each distance. Chen et al. 2021, section 3. */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t max_len;
    double init_std;
};

static const peat_param rows[] = {
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "distances that are learned", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial logits"},
    PEAT_PARAM_END,
};

struct diet {
    int64_t n; /* distances */
};

/* An encoder has rows for differences -(n-1) .. n-1, a causal model for the past alone. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct diet *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->n = k->max_len ? k->max_len : s->dims.T_max;
    if (s->dims.T_max > t->n)
        return peat_refuse(s,
                           "learns max_len = %lld distances, but sequences of %lld are evaluated; "
                           "raise max_len",
                           (long long)t->n, (long long)s->dims.T_max);
    peat_resolved(s, "max_len", (double)t->n);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    int64_t differences = s->dims.causal ? t->n : 2 * t->n - 1;
    peat_param_new(s, "r", 2, (int64_t[]){differences, PEAT_HEADS}, init, PEAT_PER_USER, 0);
    *self = t;
    return PEAT_OK;
}

/* bias[h, i] = R[-delta_i, h]; a causal model, which never sees the future, has R[0, h] there. */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    int64_t n = ((const struct diet *)c->self)->n;
    double *row = peat_scratch(c, r->n);
    for (int64_t i = 0; row && i < r->n; i++) {
        if (!(fabs(r->delta[i]) < (double)n))
            return peat_fail(c->g, "a distance of %g is not one of those learned: max_len is %lld",
                             fabs(r->delta[i]), (long long)n);
        row[i] = c->dims.causal ? fmax(-r->delta[i], 0) : (double)(n - 1) - r->delta[i];
    }
    peat_node *index = peat_fill_index(c, 1, &r->n, row);
    return peat_permute(c->g, peat_gather_rows(c->g, peat_use(c, 0), index), 2, (int32_t[]){1, 0});
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_FINITE_LENGTH,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "diet_rel", "1.0",
            "a trained logit for each distance", "MIT", "arXiv:2104.08698")
