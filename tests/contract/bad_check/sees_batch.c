/* SPDX-License-Identifier: MIT */
/* The mean over the batch is taken from every row. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return peat_sub(c->g, x, peat_scale(c->g, peat_mean(c->g, x, 0), 0.5));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sees_batch", "1.0",
                  "the mean over the batch is taken from every row", "MIT", "")
