/* SPDX-License-Identifier: MIT */
/*
 * sigmoid.c: attention weights are sigmoids, each by its own logit: keys do not share one weight.
 * Ramapuram et al. 2024, section 2.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t keys;
};

static const peat_param rows[] = {
    {"keys", PEAT_INT, offsetof(struct config, keys), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "logits are lowered by the logarithm of this: weights of so many keys start with a sum "
            "near 1",
     .flags = PEAT_AUTO},
    PEAT_PARAM_END,
};

struct sigmoid {
    double shift;
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct sigmoid *m = peat_alloc(s, sizeof(*m));
    if (!m)
        return PEAT_NOMEM;
    double keys = (double)(k->keys ? k->keys : s->dims.T_train);
    peat_resolved(s, "keys", keys);
    m->shift = -log(keys);
    *self = m;
    return PEAT_OK;
}

/* W_ij = sigmoid(S_ij - log keys) */
static peat_node *softmax(const peat_call *c, const peat_qkv *p, peat_node *S, peat_node *bias)
{
    const struct sigmoid *m = c->self;
    (void)p;
    (void)bias;
    return peat_mul(c->g, peat_sigmoid(c->g, peat_affine(c->g, S, 1, m->shift)), c->mask);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_PERMUTATION_EQUIVARIANT |
              PEAT_CONTENT_DEPENDENT | PEAT_NO_TRAINABLE | PEAT_ACROSS,
    .setup = setup,
    .softmax = softmax,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "sigmoid", "1.0",
            "attention weights are sigmoids, each by its own logit", "MIT", "arXiv:2409.04431")
