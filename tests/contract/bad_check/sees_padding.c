/* SPDX-License-Identifier: MIT */
/* The token before each is added to it, padding or not. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *before = peat_pad(c->g, peat_slice(c->g, x, 1, 0, c->q->T - 1), 1, 1, 0);
    return c->q->T > 1 ? peat_add(c->g, x, before) : x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sees_padding", "1.0",
                  "the token before each is added to it, padding or not", "MIT", "")
