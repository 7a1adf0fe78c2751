/* SPDX-License-Identifier: MIT */
/* A hook rounds up from now on. */
#include <fenv.h>

#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    fesetround(FE_UPWARD);
    return peat_scale(c->g, x, 1.5);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sets_rounding", "1.0", "a hook rounds up from now on",
                  "MIT", "")
