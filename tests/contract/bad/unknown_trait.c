/* SPDX-License-Identifier: MIT */
/* Claims what nobody can check. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme), .traits = 0x8000};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "unknown_trait", "1.0", "a bad plugin", "MIT", "")
