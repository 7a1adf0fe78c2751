/* SPDX-License-Identifier: MIT */
/* my_combine.c: a template: position is added to the tokens with a factor. */
#include <peat/plugin.h>

struct config {
    double factor;
};

static const peat_param rows[] = {
    {"factor", PEAT_REAL, offsetof(struct config, factor), .preset = 1, .min = -1e6, .max = 1e6,
     .doc = "factor on every stream but the tokens"},
    PEAT_PARAM_END,
};

/* Every stream gets the width of the model. Tensors are registered here too, with
 * peat_param_new. */
static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)config;
    (void)self;
    for (int32_t i = 0; i < n; i++) {
        if (width[i] && width[i] != *D)
            return peat_refuse(s, "'%s' is always %lld wide and the model %lld", stream[i],
                               (long long)width[i], (long long)*D);
        width[i] = *D;
    }
    return PEAT_OK;
}

/* y = x_0 + factor (x_1 + x_2 + ...) -> [B, T, D] */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, peat_scale(c->g, x[i], k->factor));
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2, /* 1: encodes position itself, and gets no other */
    .setup = setup,
    .merge = merge,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "my_combine", "0.1",
            "position is added with a factor", "MIT", "")
