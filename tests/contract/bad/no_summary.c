/* SPDX-License-Identifier: MIT */
/* Says nothing of itself. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "no_summary", "1.0", "", "MIT", "")
