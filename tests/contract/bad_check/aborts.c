/* SPDX-License-Identifier: MIT */
/* A hook aborts. */
#include <stdlib.h>

#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    (void)c;
    abort();
    return x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "aborts", "1.0", "a hook aborts", "MIT", "")
