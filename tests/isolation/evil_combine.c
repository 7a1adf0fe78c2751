/* SPDX-License-Identifier: MIT */
/* evil_combine.c: adds its streams, and commits a crime in setup or, in training, in merge. */
#include <peat/plugin.h>

#include "crimes.h"

static const char *const places[] = {"setup", "merge", NULL};
enum { AT_SETUP, AT_MERGE };

struct config {
    int64_t does, place;
};

static const peat_param rows[] = {
    {"does", PEAT_ENUM, offsetof(struct config, does), .labels = crimes, .doc = "which crime"},
    {"place", PEAT_ENUM, offsetof(struct config, place), .labels = places,
     .doc = "in which function"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    (void)s, (void)stream, (void)self;
    for (int32_t i = 0; i < n; i++)
        width[i] = *D;
    if (k->place == AT_SETUP)
        commit(k->does);
    return PEAT_OK;
}

static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    const struct config *k = c->config;
    if (k->place == AT_MERGE && c->step >= 2)
        commit(k->does);
    peat_node *y = x[0];
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 1,
    .setup = setup,
    .merge = merge,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "evil_combine", "1.0", "does harm", "MIT",
            "")
