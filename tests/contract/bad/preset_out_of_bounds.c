/* SPDX-License-Identifier: MIT */
/* Its default is outside its own bounds. */
#include <peat/plugin.h>

struct config {
    int64_t base;
};

static const peat_param rows[] = {
    {"base", PEAT_INT, offsetof(struct config, base), 50, 1, 9, NULL, NULL, NULL, "a base", 0},
    PEAT_PARAM_END,
};

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "preset_out_of_bounds", "1.0", "a bad plugin",
            "MIT", "")
