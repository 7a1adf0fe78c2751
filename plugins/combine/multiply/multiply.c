/* SPDX-License-Identifier: MIT */
/* multiply.c: streams are multiplied element by element. */
#include <peat/plugin.h>

#include "../widths.h"

enum { PRODUCT, ONE_PLUS };

struct config {
    int64_t form;
};

static const char *const forms[] = {"product", "one_plus", NULL};

static const peat_param rows[] = {
    {"form", PEAT_ENUM, offsetof(struct config, form), .preset = PRODUCT, .labels = forms,
     .doc = "x p, or x (1 + p), which leaves tokens as they are where p is 0"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)config;
    (void)self;
    return widths_equal(s, n, stream, width, *D);
}

/* y = x_0 p_1 p_2 ..., or x_0 (1 + p_1) (1 + p_2) ... */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_mul(c->g, y, k->form == ONE_PLUS ? peat_affine(c->g, x[i], 1, 1) : x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "multiply", "1.0",
            "the token embedding is multiplied by position", "MIT", "")
PEAT_ALSO_CALLED("product, times")
