/* SPDX-License-Identifier: MIT */
/* Needs the attention weights in a hook it does not have. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme), .needs = PEAT_NEED_W};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "weights_without_context", "1.0", "a bad plugin", "MIT", "")
