/* SPDX-License-Identifier: MIT */
/* sum_norm.c: streams are added and the sum is normalised. Devlin et al. 2019, section 3. */
#include <peat/plugin.h>

#include "../widths.h"

enum { WEIGHT, BIAS };

struct config {
    double eps;
};

static const peat_param rows[] = {
    {"eps", PEAT_REAL, offsetof(struct config, eps), .preset = 1e-12, .min = 0, .max = 1,
     .doc = "added to the variance", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1}, zero = {.kind = PEAT_INIT_ZERO};
    (void)config;
    (void)self;
    peat_param_new(s, "weight", 1, D, one, PEAT_ONCE, PEAT_NO_DECAY);
    peat_param_new(s, "bias", 1, D, zero, PEAT_ONCE, PEAT_NO_DECAY);
    return widths_equal(s, n, stream, width, *D);
}

/* y = w (u - mean u) / sqrt(var u + eps) + b, u = x_0 + x_1 + ... */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *u = x[0];
    for (int32_t i = 1; i < n; i++)
        u = peat_add(c->g, u, x[i]);
    return peat_layernorm(c->g, u, peat_use(c, WEIGHT), peat_use(c, BIAS), k->eps);
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 1,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "sum_norm", "1.0",
            "position is added to the token embedding and the sum normalised", "MIT",
            "arXiv:1810.04805")
