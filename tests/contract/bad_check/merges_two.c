/* SPDX-License-Identifier: MIT */
/* All streams but two are taken for one width: three come out too wide. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)s;
    (void)config;
    (void)stream;
    (void)self;
    width[0] = *D / 2;
    for (int32_t i = 1; i < n; i++)
        width[i] = *D - *D / 2;
    return PEAT_OK;
}

static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    return peat_concat(c->g, n, x, -1);
}

static const peat_combine combine = {
    .size = sizeof(combine), .min_streams = 2, .setup = setup, .merge = merge};

PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "merges_two", "1.0", "a planted mistake", "MIT", "")
