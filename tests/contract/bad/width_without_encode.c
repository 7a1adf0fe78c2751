/* SPDX-License-Identifier: MIT */
/* States the width of a stream it does not give. */
#include <peat/plugin.h>

static int64_t width(const void *config)
{
    (void)config;
    return 4;
}

static const peat_scheme scheme = {.size = sizeof(scheme), .width = width};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "width_without_encode", "1.0", "a bad plugin", "MIT", "")
