/* SPDX-License-Identifier: MIT */
/* The upper bound of a parameter makes set-up fail without a word. */
#include <peat/plugin.h>

struct config {
    int64_t size;
};

static const peat_param rows[] = {
    {"size", PEAT_INT, offsetof(struct config, size), .preset = 2, .min = 1, .max = 64,
     .doc = "a size"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    (void)s;
    (void)self;
    return k->size > 32 ? PEAT_FAILED : PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "fails_at_bound", "1.0", "a planted mistake",
            "MIT", "")
