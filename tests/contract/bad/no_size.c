/* SPDX-License-Identifier: MIT */
/* Forgets the size of its interface. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.traits = PEAT_NO_TRAINABLE};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "no_size", "1.0", "a bad plugin", "MIT", "")
