/* SPDX-License-Identifier: MIT */
/* gate_vector.c: each token mixes itself with its position by one learned gate per dimension. */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { W_TOKEN, W_POSITION, BIAS };

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const int64_t square[] = {*D, *D};
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt(2 * (double)*D)};
    (void)config;
    (void)self;
    peat_param_new(s, "w_token", 2, square, init, PEAT_ONCE, 0);
    peat_param_new(s, "w_position", 2, square, init, PEAT_ONCE, 0);
    peat_param_new(s, "bias", 1, D, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return widths_equal(s, n, stream, width, *D);
}

/* g = sigmoid(W_t x + W_p p + b), y = g x + (1 - g) p, where p is the sum of the positional
 * streams. W_p p is computed once for all rows that share their positions. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_graph *g = c->g;
    peat_node *p = widths_sum(c, n, x);
    peat_node *token = peat_matmul(g, x[0], peat_use(c, W_TOKEN), PEAT_TRANS_B);
    peat_node *position = peat_matmul(g, p, peat_use(c, W_POSITION), PEAT_TRANS_B);
    position = peat_add(g, position, peat_use(c, BIAS));
    peat_node *gate = peat_sigmoid(g, peat_add(g, token, position));
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

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "gate_vector", "1.0",
                  "a learned gate per token and dimension mixes token and position", "MIT",
                  "arXiv:2601.05807")
