/* SPDX-License-Identifier: MIT */
/*
 * cable.c: every token adds to its head's bias an amount of its own, which weakens attention to
 * what lies before it. Veisi et al. 2025, with the authors' code for initial values.
 */
#include <peat/plugin.h>

enum { WEIGHT, SHIFT };

struct config {
    double init_std;
};

static const peat_param rows[] = {
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial weights; near 0 a token takes log 2 logits"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    (void)self;
    peat_init weight = {.kind = PEAT_INIT_NORMAL, .b = k->init_std},
              zero = {.kind = PEAT_INIT_ZERO};
    const int64_t dim[] = {PEAT_HEADS, s->dims.D};
    peat_param_new(s, "weight", 2, dim, weight, PEAT_PER_LAYER, 0);
    peat_param_new(s, "shift", 1, dim, zero, PEAT_PER_LAYER, PEAT_NO_DECAY);
    return PEAT_OK;
}

/* b_i - b_j, b_t = - sum over s <= t of softplus(w x_s + shift); b_i is common to all keys of a
 * query and is left out: -b_j as [B,H,1,Tk]. */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *z = peat_matmul(c->g, c->x_k, peat_use(c, WEIGHT), PEAT_TRANS_B);
    peat_node *slope = peat_softplus(c->g, peat_add(c->g, z, peat_use(c, SHIFT)));
    peat_probe(c, "slope", slope);
    return peat_of_keys(c->g, peat_cumsum(c->g, slope, 1, false));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_X,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL,
    .setup = setup,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "cable", "1.0",
            "every token adds a slope of its own to a bias", "MIT", "arXiv:2503.08067")
