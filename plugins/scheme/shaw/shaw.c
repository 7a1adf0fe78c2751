/* SPDX-License-Identifier: MIT */
/*
 * shaw.c: keys and values are seen with trained vectors of their distance from the query added.
 * Shaw, Uszkoreit and Vaswani 2018, eqs. 3 and 4.
 */
#include <peat/plugin.h>

#include "../relative.h"

enum { A_V, A_K };
enum { INDEX };

struct config {
    int64_t clip;
    bool keys;
    double init_std;
};

static const peat_param rows[] = {
    {"clip", PEAT_INT, offsetof(struct config, clip), .preset = 16, .min = 1, .max = 1 << 16,
     .unit = "tokens", .doc = "from here on all distances of a side share a vector"},
    {"keys", PEAT_BOOL, offsetof(struct config, keys), .preset = true,
     .doc = "keys get vectors too; false: values alone"},
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
    peat_param_new(s, "a_v", 2, dim, init, PEAT_PER_LAYER, 0);
    if (k->keys)
        peat_param_new(s, "a_k", 2, dim, init, PEAT_PER_LAYER, 0);
    return PEAT_OK;
}

/* One map from pairs to rows, for keys and values. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const struct config *k = c->config;
    shared[INDEX] = relative_index(c, c->q, c->k, first(k, &c->dims), k->clip);
    return PEAT_OK;
}

/* q_i . a_k[i - j] */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    const double none = 0;
    if (!((const struct config *)c->config)->keys)
        return peat_fill(c, 4, (int64_t[]){1, 1, 1, 1}, &none);
    return peat_matmul_take(c->g, p->q, peat_use(c, A_K), PEAT_TRANS_B, c->shared[INDEX]);
}

/* o_i + sum over j of W_ij a_v[i - j]: weights are summed by row of the table first. */
static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    (void)p;
    peat_node *table = peat_use(c, A_V);
    const int64_t count = peat_shape_of(c->g, table).dim[0];
    peat_node *sums = peat_scatter_last(c->g, W, c->shared[INDEX], count);
    return peat_add(c->g, o, peat_matmul(c->g, sums, table, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK | PEAT_NEED_W,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
    .context = context,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "shaw", "1.0",
            "keys and values plus trained vectors of their distance", "MIT", "arXiv:1803.02155")
PEAT_ALSO_CALLED("relative")
