/* SPDX-License-Identifier: MIT */
/* A hook never returns. */
#include <unistd.h>

#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    (void)c;
    for (;;)
        usleep(1000);
    return x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "hangs", "1.0", "a hook never returns", "MIT", "")
