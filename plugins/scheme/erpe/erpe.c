/* SPDX-License-Identifier: MIT */
/*
 * erpe.c: a trained number per head for each distance is added to the attention weights, after
 * softmax. Foumani et al. 2023.
 */
#include <peat/plugin.h>

#include "../relative.h"

enum { INDEX };

struct config {
    int64_t max_len;
    double init_std;
};

static const peat_param rows[] = {
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "distances that are learned", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial numbers; the authors begin with 0"},
    PEAT_PARAM_END,
};

struct erpe {
    int64_t n; /* distances */
};

/* An encoder has rows for i - j from -(n-1) to n-1, a causal model for the past alone. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct erpe *t = peat_alloc(s, sizeof(*t));
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
    const int64_t dim[] = {PEAT_HEADS, s->dims.causal ? t->n : 2 * t->n - 1};
    peat_param_new(s, "w", 2, dim, init, PEAT_PER_USER, PEAT_NO_DECAY);
    *self = t;
    return PEAT_OK;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    int64_t n = ((const struct erpe *)c->self)->n, reach = relative_reach(c);
    if (reach >= n) {
        peat_fail(c->g, "a distance of %lld is not one of those learned: max_len is %lld",
                  (long long)reach, (long long)n);
        return PEAT_FAILED;
    }
    shared[INDEX] = relative_index(c, c->q, c->k, c->dims.causal ? 0 : 1 - n, n - 1);
    return PEAT_OK;
}

/* W_ij + w[h, i - j]; the host masks again */
static peat_node *weights(const peat_call *c, peat_node *W)
{
    peat_node *w = peat_reshape(c->g, peat_use(c, 0), 4, (int64_t[]){1, c->H, 1, -1});
    return peat_add(c->g, W, peat_take_last(c->g, w, c->shared[INDEX]));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_FINITE_LENGTH,
    .setup = setup,
    .prepare = prepare,
    .weights = weights,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "erpe", "1.0",
            "a trained number for each distance joins the attention weights", "MIT",
            "arXiv:2305.16642")
