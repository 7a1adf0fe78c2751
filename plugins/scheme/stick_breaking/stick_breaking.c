/* SPDX-License-Identifier: MIT */
/*
 * stick_breaking.c: attention without a softmax. From the nearest key back, each takes its share of
 * what is left of a stick. Tan et al. 2024, section 2.
 */
#include <peat/plugin.h>

enum { DROP, OWN };

struct config {
    int64_t rest;
};

static const char *const rests[] = {"drop", "own", NULL};

static const peat_param rows[] = {
    {"rest", PEAT_ENUM, offsetof(struct config, rest), .preset = DROP, .labels = rests,
     .doc = "the weight that no key takes is dropped, or goes to the query's own value"},
    PEAT_PARAM_END,
};

/* 1 where key j is query i, else 0: [1,1,Tq,Tk]. Queries are the last of the keys. */
static peat_node *own_key(const peat_call *c, peat_node *S)
{
    peat_shape s = peat_shape_of(c->g, S);
    int64_t Tq = s.dim[2], Tk = s.dim[3];
    double *own = peat_scratch(c, Tq * Tk);
    for (int64_t n = 0; own && n < Tq * Tk; n++)
        own[n] = n % Tk == n / Tk + Tk - Tq;
    return peat_fill(c, 4, (int64_t[]){1, 1, Tq, Tk}, own);
}

static peat_node * not(const peat_call *c, peat_node *x)
{
    return peat_affine(c->g, x, -1, 1);
}

/* A_ij = sigmoid(S_ij) * product over k in (j, i) of (1 - sigmoid(S_ik)), j < i, as the exponential
 * of a sum of logarithms. Masked keys take nothing. */
static peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    const struct config *k = c->config;
    (void)p;
    (void)bias;
    peat_node *own = own_key(c, S), *others = peat_mul(c->g, c->mask, not(c, own));
    peat_node *left = peat_mul(c->g, peat_log_sigmoid(c->g, peat_scale(c->g, S, -1)), others);
    peat_node *behind = peat_sub(c->g, peat_cumsum(c->g, left, -1, true), left);
    peat_node *taken = peat_add(c->g, peat_log_sigmoid(c->g, S), behind);
    peat_node *A = peat_mul(c->g, peat_exp(c->g, taken), others);
    peat_node *rest = peat_exp(c->g, peat_sum(c->g, left, -1));
    peat_probe(c, "rest", rest);
    if (k->rest == DROP)
        return A;
    return peat_add(c->g, A, peat_mul(c->g, rest, peat_mul(c->g, c->mask, own)));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL |
              PEAT_NO_TRAINABLE,
    .softmax = softmax,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "stick_breaking", "1.1",
            "from the nearest key back, each takes its share of what is left", "MIT",
            "arXiv:2410.17980")
