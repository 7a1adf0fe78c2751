/* SPDX-License-Identifier: MIT */
/* The next token is added to each. */
#include <peat/plugin.h>

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *next = peat_pad(c->g, peat_slice(c->g, x, 1, 1, c->q->T), 1, 0, 1);
    return c->q->T > 1 ? peat_add(c->g, x, next) : x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "sees_future", "1.0", "the next token is added to each",
                  "MIT", "")
