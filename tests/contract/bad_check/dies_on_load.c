/* SPDX-License-Identifier: MIT */
/* Loading it is the end. */
#include <stdlib.h>

#include <peat/plugin.h>

__attribute__((constructor)) static void begin(void)
{
    abort();
}

static const peat_scheme scheme = {.size = sizeof(scheme)};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "dies_on_load", "1.0", "a planted mistake", "MIT", "")
