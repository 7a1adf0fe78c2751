/* SPDX-License-Identifier: MIT */
/* Was built against a scheme struct that ends earlier. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = offsetof(peat_scheme, context)};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "other_size", "1.0", "a bad plugin", "MIT", "")
