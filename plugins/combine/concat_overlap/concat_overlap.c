/* SPDX-License-Identifier: MIT */
/* concat_overlap.c: tokens and position share some dimensions: from concat_split to sum. */
#include <peat/plugin.h>

#include "../widths.h"

struct config {
    int64_t d_pos, shared;
};

static const peat_param rows[] = {
    {"d_pos", PEAT_INT, offsetof(struct config, d_pos), .min = 1, .max = 1 << 20,
     .automatic = "d_model/4", .unit = "dimensions", .doc = "width of the positional streams",
     .flags = PEAT_AUTO},
    {"shared", PEAT_INT, offsetof(struct config, shared), .preset = 0, .min = 0, .max = 1 << 20,
     .unit = "dimensions", .doc = "how many of these dimensions the tokens use too"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    int64_t d_pos = widths_quarter(k->d_pos, *D);
    (void)self;
    if (k->shared > d_pos)
        return peat_refuse(s, "shared, %lld, is more than d_pos, %lld", (long long)k->shared,
                           (long long)d_pos);
    if (d_pos - k->shared >= *D || d_pos > *D)
        return peat_refuse(s,
                           "positions would take %lld of the model's %lld dimensions, %lld of them "
                           "shared, and leave none for tokens; lower d_pos",
                           (long long)d_pos, (long long)*D, (long long)k->shared);
    width[0] = *D - d_pos + k->shared;
    for (int32_t i = 1; i < n; i++) {
        if (width[i] && width[i] != d_pos)
            return peat_refuse(s,
                               "positional streams must be d_pos, %lld, wide, but '%s' is "
                               "always %lld wide",
                               (long long)d_pos, stream[i], (long long)width[i]);
        width[i] = d_pos;
    }
    peat_resolved(s, "d_pos", (double)d_pos);
    return PEAT_OK;
}

/* y = [x_0; 0] + [0; p_1 + p_2 + ...], each filled up to D. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    peat_node *p = widths_sum(c, n, x);
    peat_shape token = peat_shape_of(c->g, x[0]), position = peat_shape_of(c->g, p);
    if (token.rank < 3 || position.rank < 3)
        return NULL;
    int64_t alone = position.dim[2] - k->shared; /* dimensions that tokens do not have */
    return peat_add(c->g, peat_pad(c->g, x[0], -1, 0, alone),
                    peat_pad(c->g, p, -1, token.dim[2] - k->shared, 0));
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "concat_overlap", "1.0",
            "tokens and position side by side, with some dimensions in common", "MIT", "")
PEAT_ALSO_CALLED("concat, concatenate")
