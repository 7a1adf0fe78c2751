/* SPDX-License-Identifier: MIT */
/* The width of the batch before is kept, and used. */
#include <peat/plugin.h>

static int64_t last_T; /* the crime */

static peat_node *residual(const peat_call *c, peat_node *x)
{
    double scale = last_T == c->q->T || last_T == 0 ? 1 : 2;
    if (c->layer == 1)
        last_T = c->q->T;
    return peat_scale(c->g, x, scale);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "remembers_batch", "1.0",
                  "the width of the batch before is kept, and used", "MIT", "")
