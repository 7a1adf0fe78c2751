/* SPDX-License-Identifier: MIT */
/* Fixes the scale at 1 and counts score terms, which only matter to the scale. */
#include <peat/plugin.h>

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .scale = PEAT_SCALE_ONE,
    .score_terms = 1,
};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "scale_with_terms", "1.0", "a bad plugin", "MIT", "")
