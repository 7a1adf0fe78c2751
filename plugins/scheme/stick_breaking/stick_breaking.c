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
     .doc = "what no key takes is nobody's, or goes to the query's own value"},
    PEAT_PARAM_END,
};

/* 1 where key j is query i: [1,1,T,T] */
static peat_node *own_key(const peat_call *c)
{
    int64_t T = c->k->T;
    double *own = peat_scratch(c, T * T);
    for (int64_t i = 0; own && i < T * T; i++)
        own[i] = i % (T + 1) == 0;
    return peat_fill(c, 4, (int64_t[]){1, 1, T, T}, own);
}

static peat_node * not(const peat_call *c, peat_node *x)
{
    return peat_affine(c->g, x, -1, 1);
}

/* For a key j < i log A_ij = log sigmoid(S_ij) + sum over k in (j, i) of log sigmoid(-S_ik), for
 * j = i the sum over all k < i: what is left. Together that is all of the stick, so the softmax of
 * these logarithms gives A itself. Masked keys take nothing. */
static peat_node *logits(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    (void)p;
    (void)bias;
    peat_node *own = own_key(c), *others = peat_mul(c->g, c->mask, not(c, own));
    peat_node *left = peat_mul(c->g, peat_log_sigmoid(c->g, peat_scale(c->g, S, -1)), others);
    peat_node *behind = peat_sub(c->g, peat_cumsum(c->g, left, -1, true), left);
    peat_node *taken = peat_mul(c->g, peat_log_sigmoid(c->g, S), not(c, own));
    peat_node *rest = peat_mul(c->g, peat_sum(c->g, left, -1), own);
    return peat_add(c->g, peat_add(c->g, taken, behind), rest);
}

/* The query's own weight was what is left. */
static peat_node *weights(const peat_call *c, peat_node *W)
{
    const struct config *k = c->config;
    peat_node *A = peat_mul(c->g, W, not(c, own_key(c)));
    peat_probe(c, "rest", not(c, peat_sum(c->g, A, -1)));
    return k->rest == OWN ? W : A;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT | PEAT_NEEDS_CAUSAL | PEAT_NO_TRAINABLE,
    .logits = logits,
    .weights = weights,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "stick_breaking", "1.0",
            "from the nearest key back, each takes its share of what is left", "MIT",
            "arXiv:2410.17980")
