/* SPDX-License-Identifier: MIT */
/* replace.c: position takes the place of the tokens, which the model no longer sees. */
#include <peat/plugin.h>

#include "../widths.h"

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)config;
    (void)self;
    return widths_equal(s, n, stream, width, *D);
}

/* y = 0 x + p_1 + p_2 + ...: the token table keeps its place on the tape, with a gradient that is
 * zero. */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = peat_scale(c->g, x[0], 0);
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 2,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "replace", "1.0",
                  "position alone: a baseline that sees no tokens", "MIT", "")
