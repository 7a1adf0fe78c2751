/* SPDX-License-Identifier: MIT */
/*
 * diet_abs.c: the logits of each head get the product of two trained vectors, one of the query's
 * position and one of the key's. Chen et al. 2021, section 3.
 */
#include <peat/plugin.h>

enum { P_Q, P_K };

struct config {
    int64_t width, max_len;
    double init_std;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .min = 1, .max = 1 << 16,
     .automatic = "the width of a head", .doc = "components of a position vector, per head",
     .flags = PEAT_AUTO},
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that are learned", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial vectors"},
    PEAT_PARAM_END,
};

struct diet {
    int64_t n, width; /* positions; components */
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct diet *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->n = k->max_len ? k->max_len : s->dims.T_max;
    t->width = k->width ? k->width : s->dims.C;
    if (s->dims.T_max > t->n)
        return peat_refuse(s,
                           "learns max_len = %lld positions, but sequences of %lld are evaluated; "
                           "raise max_len",
                           (long long)t->n, (long long)s->dims.T_max);
    peat_resolved(s, "max_len", (double)t->n);
    peat_resolved(s, "width", (double)t->width);
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    const int64_t dim[] = {t->n, PEAT_HEADS, t->width};
    peat_param_new(s, "p_q", 3, dim, init, PEAT_PER_USER, 0);
    peat_param_new(s, "p_k", 3, dim, init, PEAT_PER_USER, 0);
    *self = t;
    return PEAT_OK;
}

/* A table's vectors at the positions of a side: [pos_B, H, T, width] */
static peat_node *vectors(const peat_call *c, const peat_side *side, int32_t table)
{
    const struct diet *t = c->self;
    for (int64_t i = 0; i < side->pos_B * side->T; i++)
        if (!(side->pos[i] >= 0 && side->pos[i] < (double)t->n))
            return peat_fail(c->g, "position %g is not one of those learned: max_len is %lld",
                             side->pos[i], (long long)t->n);
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){side->pos_B, side->T}, side->pos);
    peat_node *all = peat_reshape(c->g, peat_use(c, table), 2, (int64_t[]){t->n, -1});
    peat_node *row = peat_gather_rows(c->g, all, index);
    row = peat_reshape(c->g, row, 4, (int64_t[]){side->pos_B, side->T, c->H, t->width});
    return peat_permute(c->g, row, 4, (int32_t[]){0, 2, 1, 3});
}

/* bias[h, i, j] = P_Q[pos_i, h] . P_K[pos_j, h] */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    return peat_matmul(c->g, vectors(c, c->q, P_Q), vectors(c, c->k, P_K), PEAT_TRANS_B);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_FINITE_LENGTH,
    .setup = setup,
    .bias = bias,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "diet_abs", "1.0",
            "logits get a product of trained position vectors of each head", "MIT",
            "arXiv:2104.08698")
