/* SPDX-License-Identifier: MIT */
/* Understands more position axes than there can be. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme), .max_axes = PEAT_MAX_AXES + 1};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "too_many_axes", "1.0", "a bad plugin", "MIT", "")
