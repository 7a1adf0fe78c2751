/* SPDX-License-Identifier: MIT */
/*
 * token_shift.c: attention sees part of the features of the token before, so that it knows what
 * stands beside what. Peng 2021, the time shift of RWKV.
 */
#include <peat/plugin.h>

#include "../neighbours.h"

struct config {
    double fraction;
};

static const peat_param rows[] = {
    {"fraction", PEAT_REAL, offsetof(struct config, fraction), .preset = 0.5, .min = 0, .max = 1,
     .doc = "part of the features taken from neighbours; in an encoder half of it from each side",
     .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* Features taken from each neighbour. */
static int64_t taken(const struct config *k, const peat_dims *dims)
{
    return (int64_t)(k->fraction * (double)dims->D) / (dims->causal ? 1 : 2);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)self;
    if (taken(config, &s->dims) > 0)
        return PEAT_OK;
    return peat_refuse(s, "a fraction of %g of %lld features is none: raise fraction",
                       ((const struct config *)config)->fraction, (long long)s->dims.D);
}

/* Features [0, n) of the token before; in an encoder [n, 2n) of the token after; the rest stays. */
static peat_node *shifted(const peat_call *c, peat_node *x)
{
    int64_t D = c->dims.D, n = taken(c->config, &c->dims), done = n;
    peat_node *part[3] = {neighbour(c, peat_slice(c->g, x, -1, 0, n), 1)};
    int32_t parts = 1;
    if (!c->dims.causal) {
        part[parts++] = neighbour(c, peat_slice(c->g, x, -1, n, 2 * n), -1);
        done = 2 * n;
    }
    if (done < D)
        part[parts++] = peat_slice(c->g, x, -1, done, D);
    return peat_concat(c->g, parts, part, -1);
}

/* Inputs that were one node stay one, and one product projects them. */
static peat_status hidden(const peat_call *c, peat_node **xq, peat_node **xk, peat_node **xv)
{
    peat_node *q = *xq, *k = *xk, *v = *xv;
    *xq = shifted(c, q);
    *xk = k == q ? *xq : shifted(c, k);
    *xv = v == q ? *xq : v == k ? *xk : shifted(c, v);
    return PEAT_OK;
}

static int64_t reach(const void *config)
{
    (void)config;
    return 1;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NO_TRAINABLE,
    .setup = setup,
    .hidden = hidden,
    .reach = reach,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "token_shift", "1.0",
            "attention sees part of the neighbour's features", "MIT",
            "https://github.com/BlinkDL/RWKV-LM")
