/* SPDX-License-Identifier: MIT */
/* Counts score terms and adds none. */
#include <peat/plugin.h>

static const peat_scheme scheme = {.size = sizeof(scheme), .score_terms = 2};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "terms_without_score", "1.0", "a bad plugin", "MIT", "")
