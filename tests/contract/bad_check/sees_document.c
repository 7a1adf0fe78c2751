/* SPDX-License-Identifier: MIT */
/* The token before each is added to it unless it is padding, over the bounds of documents. */
#include <peat/plugin.h>

/* 1 where the place before is not padding -> [B, T, 1] */
static peat_node *allowed(const peat_call *c)
{
    int64_t n = c->B * c->q->T;
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = i % c->q->T > 0 && !(c->q->pad && c->q->pad[i - 1]);
    return peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, value);
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *before = peat_pad(c->g, peat_slice(c->g, x, 1, 0, c->q->T - 1), 1, 1, 0);
    return c->q->T > 1 ? peat_add(c->g, x, peat_mul(c->g, before, allowed(c))) : x;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(
    PEAT_SCHEME, scheme, "sees_document", "1.0",
    "the token before each is added to it unless it is padding, over the bounds of documents",
    "MIT", "")
