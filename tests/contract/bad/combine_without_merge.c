/* SPDX-License-Identifier: MIT */
/* A combine that does not combine. */
#include <peat/plugin.h>

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    (void)s, (void)config, (void)stream, (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D;
    return PEAT_OK;
}

static const peat_combine combine = {.size = sizeof(combine), .min_streams = 1, .setup = setup};
PEAT_DEFINE_PLAIN(PEAT_COMBINE, combine, "combine_without_merge", "1.0", "a bad plugin", "MIT", "")
