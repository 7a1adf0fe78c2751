/* SPDX-License-Identifier: MIT */
/*
 * shaw_keys.c: each key is seen with a trained vector of its distance from the query added.
 * Shaw, Uszkoreit and Vaswani 2018, eq. 4.
 */
#include <peat/plugin.h>

#include "../relative.h"

enum { INDEX };

struct config {
    int64_t clip;
    double init_std;
};

static const peat_param rows[] = {
    {"clip", PEAT_INT, offsetof(struct config, clip), .preset = 16, .min = 1, .max = 1 << 16,
     .unit = "tokens", .doc = "from here on all distances of a side share a vector"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial vectors"},
    PEAT_PARAM_END,
};

/* The least i - j with a row: a causal model never sees the future. */
static int64_t first(const struct config *k, const peat_dims *dims)
{
    return dims->causal ? 0 : -k->clip;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    const int64_t dim[] = {k->clip - first(k, &s->dims) + 1, s->dims.C};
    (void)self;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "a_k", 2, dim, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const struct config *k = c->config;
    shared[INDEX] = relative_index(c, c->q, c->k, first(k, &c->dims), k->clip);
    return PEAT_OK;
}

/* q_i . a[i - j] */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    return peat_matmul_take(c->g, p->q, peat_use(c, 0), PEAT_TRANS_B, c->shared[INDEX]);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "shaw_keys", "1.0",
            "queries meet keys plus a trained vector of their distance", "MIT", "arXiv:1803.02155")
