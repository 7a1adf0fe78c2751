/* SPDX-License-Identifier: MIT */
/*
 * huang.c: query and key each meet a trained vector of their distance. Huang, Liang, Xu and Xiang
 * 2020, method 4.
 */
#include <peat/plugin.h>

#include "../relative.h"

enum { OF_QUERY, OF_KEY };

struct config {
    int64_t clip;
    double init_std;
};

static const peat_param rows[] = {
    {"clip", PEAT_INT, offsetof(struct config, clip), .min = 1, .max = 1 << 20,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "from here on all distances of a side share a vector", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial vectors"},
    PEAT_PARAM_END,
};

static int64_t last(const struct config *k, const peat_dims *dims)
{
    return k->clip ? k->clip : dims->T_train;
}

/* The least i - j with a row: a causal model never sees the future. */
static int64_t first(const struct config *k, const peat_dims *dims)
{
    return dims->causal ? 0 : -last(k, dims);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t n = last(k, &s->dims) - first(k, &s->dims) + 1;
    (void)self;
    peat_resolved(s, "clip", (double)last(k, &s->dims));
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "a", 2, (int64_t[]){n, s->dims.C}, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    int64_t lo = first(c->config, &c->dims), hi = last(c->config, &c->dims);
    shared[OF_QUERY] = relative_index(c, c->q, c->k, lo, hi);
    shared[OF_KEY] = relative_index_back(c, c->k, c->q, lo, hi);
    return PEAT_OK;
}

/* (q_i + k_j) . a[clip(i - j)] */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    peat_node *a = peat_use(c, 0);
    peat_node *q = peat_matmul_take(c->g, p->q, a, PEAT_TRANS_B, c->shared[OF_QUERY]);
    peat_node *k = peat_matmul_take(c->g, p->k, a, PEAT_TRANS_B, c->shared[OF_KEY]);
    return peat_add(c->g, q, peat_permute(c->g, k, 4, (int32_t[]){0, 1, 3, 2}));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "huang", "1.0",
            "query and key each meet a trained vector of their distance", "MIT", "arXiv:2009.13658")
