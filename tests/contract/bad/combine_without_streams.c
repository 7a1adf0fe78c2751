/* SPDX-License-Identifier: MIT */
/* A combine that wants at least three streams and at most two. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)s, (void)config, (void)stream, (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D;
    return PEAT_OK;
}

static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    (void)c, (void)n;
    return x[0];
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 3,
    .max_streams = 2,
    .setup = setup,
    .merge = merge,
};
PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "combine_without_streams", "1.0", "a bad plugin", "MIT",
                  "")
