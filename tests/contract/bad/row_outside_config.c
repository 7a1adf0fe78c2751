/* SPDX-License-Identifier: MIT */
/* One of its rows lies behind the end of its config. */
#include <peat/plugin.h>

struct config {
    int64_t base;
};

static const peat_param rows[] = {
    {"base", PEAT_INT, sizeof(struct config), 5, 1, 9, NULL, NULL, NULL, "a base", 0},
    PEAT_PARAM_END,
};

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "row_outside_config", "1.0", "a bad plugin",
            "MIT", "")
