/* SPDX-License-Identifier: MIT */
/* Is of a kind that does not exist. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE_PLAIN((peat_kind)7, scheme, "unknown_kind", "1.0", "a bad plugin", "MIT", "")
