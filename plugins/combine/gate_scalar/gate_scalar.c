/* SPDX-License-Identifier: MIT */
/* gate_scalar.c: each token mixes itself with its position by one learned gate.
 * Hallam and Tseng 2026. */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { W_TOKEN, W_POSITION, BIAS };

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt(2 * (double)*D)};
    (void)config;
    (void)self;
    peat_param_new(s, "w_token", 2, (int64_t[]){*D, 1}, init, PEAT_ONCE, 0);
    peat_param_new(s, "w_position", 2, (int64_t[]){*D, 1}, init, PEAT_ONCE, 0);
    peat_param_new(s, "bias", 1, (int64_t[]){1}, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return widths_equal(s, n, stream, width, *D);
}

/* g = sigmoid(w_t.x + w_p.p + b), y = g x + (1 - g) p, where p is the sum of the positional
 * streams. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_graph *g = c->g;
    peat_node *p = widths_sum(c, n, x);
    peat_node *token = peat_matmul(g, x[0], peat_use(c, W_TOKEN), 0);
    peat_node *position = peat_matmul(g, p, peat_use(c, W_POSITION), 0);
    peat_node *score = peat_add(g, peat_add(g, token, position), peat_use(c, BIAS));
    peat_node *gate = peat_sigmoid(g, score);
    peat_probe(c, "gate", gate);
    return peat_add(g, p, peat_mul(g, gate, peat_sub(g, x[0], p)));
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "gate_scalar", "1.0",
                  "a learned gate per token mixes token and position", "MIT", "arXiv:2601.05807")
