/* SPDX-License-Identifier: MIT */
/* A static counter makes every call another. */
#include <peat/plugin.h>

static int calls; /* the crime */

static peat_node *residual(const peat_call *c, peat_node *x)
{
    calls++;
    return peat_scale(c->g, x, 1 + 1e-3 * calls);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "counts_calls", "1.0",
                  "a static counter makes every call another", "MIT", "")
