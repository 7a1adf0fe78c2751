/* SPDX-License-Identifier: MIT */
/* Streams that insist on a width are given another. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D;
    return PEAT_OK;
}

static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine), .min_streams = 2, .setup = setup, .merge = merge};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "ignores_width", "1.0", "a planted mistake", "MIT", "")
