/* SPDX-License-Identifier: MIT */
/* alibi.c: each head loses a fixed amount of logit per token of distance. Press et al. 2022. */
#include <math.h>

#include <peat/plugin.h>

/* Head h of H. Powers of two: 2^(-8(h+1)/H). Other H: the slopes of the largest power of two n
 * below, then every second slope of 2n heads, as in the authors' code. */
static double slope(int64_t h, int64_t H)
{
    int64_t n = 1;
    while (2 * n <= H)
        n *= 2;
    int64_t step = h < n ? 2 * (h + 1) : 2 * (h - n) + 1;
    return exp2(-4.0 * (double)step / (double)n);
}

/* bias[h, i] = -slope_h |delta_i| */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *bias = peat_scratch(c, c->H * r->n);
    for (int64_t h = 0; bias && h < c->H; h++)
        for (int64_t i = 0; i < r->n; i++)
            bias[h * r->n + i] = -slope(h, c->H) * fabs(r->delta[i]);
    return peat_fill(c, 2, (int64_t[]){c->H, r->n}, bias);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE | PEAT_ACROSS,
    .bias_rel = bias_rel,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "alibi", "1.0", "logits fall linearly with distance", "MIT",
                  "arXiv:2108.12409")
