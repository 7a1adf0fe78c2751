/* SPDX-License-Identifier: MIT */
/* Position is merged with the tokens after it. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++) {
        if (width[i] && width[i] != *D)
            return peat_refuse(s, "only streams of the model's width are merged");
        width[i] = *D;
    }
    return PEAT_OK;
}

static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = peat_add(c->g, x[0], peat_cumsum(c->g, x[0], 1, true));
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine), .min_streams = 2, .setup = setup, .merge = merge};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "merges_future", "1.0", "a planted mistake", "MIT", "")
