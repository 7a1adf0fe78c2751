/* SPDX-License-Identifier: MIT */
/* One of its rows takes a key that belongs to the host. */
#include <peat/plugin.h>

struct config {
    int64_t where;
};

static const peat_param rows[] = {
    {"where", PEAT_INT, offsetof(struct config, where), 5, 1, 9, NULL, NULL, NULL, "a place", 0},
    PEAT_PARAM_END,
};

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "reserved_key", "1.0", "a bad plugin", "MIT",
            "")
