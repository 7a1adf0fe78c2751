/* SPDX-License-Identifier: MIT */
/* A hook loses memory. */
#include <stdlib.h>
#include <string.h>

#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    double *table = malloc(sizeof(*table) * 100);
    if (!table)
        return peat_fail(c->g, "no memory");
    memset(table, 0, sizeof(*table) * 100);
    double *volatile kept = table;
    double scale = kept[3] + 1;
    kept = NULL;
    return peat_scale(c->g, x, scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "leaks", "1.0", "a hook loses memory", "MIT", "")
