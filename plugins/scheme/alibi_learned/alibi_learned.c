/* SPDX-License-Identifier: MIT */
/*
 * alibi_learned.c: logits fall linearly with distance, each head with a slope that is trained.
 * Press et al. 2022 mention it and prefer fixed slopes.
 */
#include "../slopes.h"

enum { FACTOR };

/* The trained number is a factor of the fixed slope: slopes fall from head to head, so steps of one
 * size would be too small for the first or too large for the last; and the fixed slopes depend on
 * the group of heads, which is known only when a hook is called. Below 0 a head would prefer
 * distant tokens. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const double most = 1e6;
    peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1};
    (void)config;
    (void)self;
    int32_t factor = peat_param_new(s, "factor", 2, (int64_t[]){PEAT_HEADS, 1}, one, PEAT_PER_USER,
                                    PEAT_NO_DECAY);
    peat_bound(s, factor, 0, most);
    return PEAT_OK;
}

/* bias[h, i] = -factor_h slope_h |delta_i| */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *fall = peat_scratch(c, c->H * r->n);
    for (int64_t h = 0; fall && h < c->H; h++)
        for (int64_t i = 0; i < r->n; i++)
            fall[h * r->n + i] = -slopes_at(h, c->H) * fabs(r->delta[i]);
    peat_node *fixed = peat_fill(c, 2, (int64_t[]){c->H, r->n}, fall);
    return peat_mul(c->g, peat_use(c, FACTOR), fixed);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_ACROSS,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "alibi_learned", "1.0",
                  "logits fall linearly with distance, by slopes that are trained", "MIT",
                  "arXiv:2108.12409")
