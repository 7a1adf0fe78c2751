/* SPDX-License-Identifier: MIT */
/* Leaves a text at NULL. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "no_citation", "1.0", "a bad plugin", "MIT", NULL)
