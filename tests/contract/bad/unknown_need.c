/* SPDX-License-Identifier: MIT */
/* Needs what this program has never heard of. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme), .needs = PEAT_NEED_X | 0x1000};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "unknown_need", "1.0", "a bad plugin", "MIT", "")
