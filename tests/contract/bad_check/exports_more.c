/* SPDX-License-Identifier: MIT */
/* A second symbol is seen from outside. */
#include <peat/plugin.h>

PEAT_EXPORT int helper(int x);

int helper(int x)
{
    return x + 1;
}

static const peat_scheme scheme = {.size = sizeof(scheme)};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "exports_more", "1.0", "a planted mistake", "MIT", "")
