/* SPDX-License-Identifier: MIT */
/* Its id could not be written in YAML as other names are. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "Rotary-2", "1.0", "a bad plugin", "MIT", "")
