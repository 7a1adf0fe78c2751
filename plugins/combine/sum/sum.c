/* SPDX-License-Identifier: MIT */
/* sum.c: streams are added, each times a factor. Vaswani et al. 2017, section 3.5. */
#include <peat/plugin.h>

#include "../widths.h"

struct config {
    double token_scale, position_scale;
    bool learned, per_dimension;
};

static const peat_param rows[] = {
    {"token_scale", PEAT_REAL, offsetof(struct config, token_scale), .preset = 1, .min = -1e6,
     .max = 1e6, .doc = "factor on the token embedding"},
    {"position_scale", PEAT_REAL, offsetof(struct config, position_scale), .preset = 1, .min = -1e6,
     .max = 1e6, .doc = "factor on every other stream"},
    {"learned", PEAT_BOOL, offsetof(struct config, learned),
     .doc = "train one factor for each stream, starting at these"},
    {"per_dimension", PEAT_BOOL, offsetof(struct config, per_dimension),
     .doc = "with learned: a factor for each dimension of each stream"},
    PEAT_PARAM_END,
};

static double factor(const struct config *k, int32_t stream)
{
    return stream == 0 ? k->token_scale : k->position_scale;
}

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    int64_t factors = k->per_dimension ? *D : 1;
    (void)self;
    if (k->per_dimension && !k->learned)
        return peat_refuse(s, "per_dimension is about learned factors: set learned to true");
    for (int32_t i = 0; k->learned && n > 1 && i < n; i++) {
        peat_init init = {.kind = PEAT_INIT_CONSTANT, .a = factor(k, i)};
        peat_param_new(s, stream[i], 1, &factors, init, PEAT_ONCE, PEAT_NO_DECAY);
    }
    return widths_equal(s, n, stream, width, *D);
}

static peat_node *scaled(const peat_call *c, peat_node *x, int32_t stream)
{
    const struct config *k = c->config;
    double by = factor(k, stream);
    if (k->learned)
        return peat_mul(c->g, x, peat_use(c, stream));
    return by == 1 ? x : peat_scale(c->g, x, by);
}

/* y = a x_0 + b (x_1 + x_2 + ...); a single stream passes unchanged. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    if (n == 1)
        return x[0];
    peat_node *y = scaled(c, x[0], 0);
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, scaled(c, x[i], i));
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 1,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "sum", "1.0",
            "position is added to the token embedding", "MIT", "arXiv:1706.03762")
PEAT_ALSO_CALLED("add, plus")
