/* SPDX-License-Identifier: MIT */
/*
 * conv.c: each channel gets a trained mixture of its neighbours in time: order without positions.
 * Chu et al. 2021 (PEG), on sequences.
 */
#include <math.h>

#include <peat/plugin.h>

#include "../neighbours.h"

struct config {
    int64_t kernel;
};

static const peat_param rows[] = {
    {"kernel", PEAT_INT, offsetof(struct config, kernel), .preset = 3, .min = 2, .max = 1 << 10,
     .unit = "tokens", .doc = "width: the token and those before it; in an encoder both sides"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t n = ((const struct config *)config)->kernel;
    (void)self;
    if (!s->dims.causal && n % 2 == 0)
        return peat_refuse(s, "a kernel of %lld has no middle in an encoder: make it odd",
                           (long long)n);
    double r = 1 / sqrt((double)n);
    peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r};
    peat_param_new(s, "w", 2, (int64_t[]){n, s->dims.D}, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* y_t = x_t + sum over i of w_i * x_{t - s}, s = i in a decoder, i - (n-1)/2 in an encoder */
static peat_node *residual(const peat_call *c, peat_node *x)
{
    int64_t n = ((const struct config *)c->config)->kernel;
    int64_t first = c->dims.causal ? 0 : -(n - 1) / 2;
    peat_node *w = peat_use(c, 0), *y = x;
    for (int64_t i = 0; i < n; i++) {
        peat_node *tap = peat_slice(c->g, w, 0, i, i + 1);
        y = peat_add(c->g, y, peat_mul(c->g, neighbour(c, x, first + i), tap));
    }
    return y;
}

static int64_t reach(const void *config)
{
    return ((const struct config *)config)->kernel - 1;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .residual = residual,
    .reach = reach,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "conv", "1.0",
            "a depth-wise convolution over time at the start of blocks", "MIT", "arXiv:2102.10882")
