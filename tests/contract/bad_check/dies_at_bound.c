/* SPDX-License-Identifier: MIT */
/* The lower bound of a parameter is divided by. */
#include <peat/plugin.h>

struct config {
    int64_t every;
};

static const peat_param rows[] = {
    {"every", PEAT_INT, offsetof(struct config, every), .preset = 2, .min = 0, .max = 8,
     .doc = "a period"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t *whole = peat_alloc(s, sizeof(*whole));
    if (!whole)
        return PEAT_NOMEM;
    if (k->every == 0)
        __builtin_trap();
    *whole = s->dims.D / k->every;
    *self = whole;
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "dies_at_bound", "1.0", "a planted mistake",
            "MIT", "")
