/* SPDX-License-Identifier: MIT */
/* A hook ends the process as if all were well. */
#include <stdlib.h>

#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    (void)c;
    exit(0);
    return x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "exits", "1.0",
                  "a hook ends the process as if all were well", "MIT", "")
