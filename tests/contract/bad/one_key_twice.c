/* SPDX-License-Identifier: MIT */
/* Two of its rows have one key. */
#include <peat/plugin.h>

struct config {
    int64_t base;
};

static const peat_param rows[] = {
    {"base", PEAT_INT, offsetof(struct config, base), 5, 1, 9, NULL, NULL, NULL, "a base", 0},
    {"base", PEAT_INT, offsetof(struct config, base), 5, 1, 9, NULL, NULL, NULL, "a base", 0},
    PEAT_PARAM_END,
};

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "one_key_twice", "1.0", "a bad plugin", "MIT",
            "")
