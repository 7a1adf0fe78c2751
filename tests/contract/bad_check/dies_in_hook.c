/* SPDX-License-Identifier: MIT */
/* A hook reads from nowhere. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const volatile double *nowhere = (const volatile double *)(uintptr_t)8;
    x = peat_scale(c->g, x, *nowhere);
    return x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "dies_in_hook", "1.0", "a hook reads from nowhere", "MIT",
                  "")
