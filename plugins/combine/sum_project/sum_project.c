/* SPDX-License-Identifier: MIT */
/* sum_project.c: streams are added, then multiplied by a trained matrix: concat_project's control.
 */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { WEIGHT, BIAS };

struct config {
    double position_scale;
    bool bias;
};

static const peat_param rows[] = {
    {"position_scale", PEAT_REAL, offsetof(struct config, position_scale), .preset = 1, .min = -1e6,
     .max = 1e6, .doc = "factor on every stream but the tokens"},
    {"bias", PEAT_BOOL, offsetof(struct config, bias), .preset = true,
     .doc = "add a trained vector after the matrix"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)*D)};
    (void)self;
    peat_param_new(s, "weight", 2, (int64_t[]){*D, *D}, init, PEAT_ONCE, 0);
    if (k->bias)
        peat_param_new(s, "bias", 1, D, (peat_init){.kind = PEAT_INIT_ZERO}, PEAT_ONCE, 0);
    return widths_equal(s, n, stream, width, *D);
}

/* y = W (x_0 + a (p_1 + p_2 + ...)) + b */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, peat_scale(c->g, x[i], k->position_scale));
    y = peat_matmul(c->g, y, peat_use(c, WEIGHT), PEAT_TRANS_B);
    return k->bias ? peat_add(c->g, y, peat_use(c, BIAS)) : y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "sum_project", "1.0",
            "position is added to the token embedding, then a matrix", "MIT", "")
