/* SPDX-License-Identifier: MIT */
/* concat_split.c: position takes dimensions of its own from the tokens; the width stays. */
#include <peat/plugin.h>

#include "../widths.h"

struct config {
    int64_t d_pos;
};

static const peat_param rows[] = {
    {"d_pos", PEAT_INT, offsetof(struct config, d_pos), .min = 1, .max = 1 << 20,
     .automatic = "d_model/4", .unit = "dimensions", .doc = "width of each positional stream",
     .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    int64_t d_pos = widths_quarter(k->d_pos, *D);
    int64_t beside = widths_beside(n, width, d_pos);
    (void)stream;
    (void)self;
    if (beside >= *D)
        return peat_refuse(s,
                           "positions would take %lld of the model's %lld dimensions and leave "
                           "none for tokens; lower d_pos",
                           (long long)beside, (long long)*D);
    width[0] = *D - beside;
    peat_resolved(s, "d_pos", (double)d_pos);
    return PEAT_OK;
}

/* y = [x_0; p_1; p_2; ...] */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    return peat_concat(c->g, n, x, -1);
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "concat_split", "1.0",
            "narrower tokens beside position, at the model's width", "MIT", "")
PEAT_ALSO_CALLED("concat, concatenate")
