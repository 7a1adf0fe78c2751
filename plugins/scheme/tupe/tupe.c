/* SPDX-License-Identifier: MIT */
/*
 * tupe.c: positions meet positions through projections of their own, apart from the tokens.
 * Ke, He and Liu 2021, section 3.1 (TUPE-A), and the reset of section 3.2.
 */
#include <math.h>

#include <peat/plugin.h>

enum { P, NORM_WEIGHT, NORM_SHIFT, U_Q, U_K, THETA_QUERY, THETA_KEY };

struct config {
    int64_t max_len;
    double init_std;
    bool reset;
};

static const peat_param rows[] = {
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that are learned", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 1e-6,
     .max = 1e3, .doc = "standard deviation of the initial position vectors"},
    {"reset", PEAT_BOOL, offsetof(struct config, reset), .preset = false,
     .doc = "special tokens have a trained number for each head in place of positions"},
    PEAT_PARAM_END,
};

struct tupe {
    int64_t n; /* positions */
};

static void add_tensors(peat_setup *s, int64_t n, const struct config *k)
{
    int64_t D = s->dims.D;
    peat_init table = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1}, zero = {.kind = PEAT_INIT_ZERO};
    peat_init matrix = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)D)};
    const int64_t rows_dim[] = {n, D}, head_dim[] = {PEAT_HEADS, s->dims.C, D};
    const int64_t theta_dim[] = {PEAT_HEADS, 1, 1};
    peat_param_new(s, "p", 2, rows_dim, table, PEAT_PER_USER, 0);
    peat_param_new(s, "norm_weight", 1, &D, one, PEAT_PER_USER, 0);
    peat_param_new(s, "norm_shift", 1, &D, zero, PEAT_PER_USER, 0);
    peat_param_new(s, "u_q", 3, head_dim, matrix, PEAT_PER_USER, 0);
    peat_param_new(s, "u_k", 3, head_dim, matrix, PEAT_PER_USER, 0);
    if (!k->reset)
        return;
    peat_param_new(s, "theta_query", 3, theta_dim, zero, PEAT_PER_USER, PEAT_NO_DECAY);
    peat_param_new(s, "theta_key", 3, theta_dim, zero, PEAT_PER_USER, PEAT_NO_DECAY);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct tupe *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->n = k->max_len ? k->max_len : s->dims.T_max;
    if (s->dims.T_max > t->n)
        return peat_refuse(s,
                           "learns max_len = %lld positions, but sequences of %lld are evaluated; "
                           "raise max_len",
                           (long long)t->n, (long long)s->dims.T_max);
    peat_resolved(s, "max_len", (double)t->n);
    add_tensors(s, t->n, k);
    *self = t;
    return PEAT_OK;
}

/* LN(p) at the positions of a side through U: [pos_B, H, T, C] */
static peat_node *projected(const peat_call *c, peat_node *p, const peat_side *side, int32_t u)
{
    int64_t n = ((const struct tupe *)c->self)->n, C = c->dims.C;
    for (int64_t i = 0; i < side->pos_B * side->T; i++)
        if (!(side->pos[i] >= 0 && side->pos[i] < (double)n))
            return peat_fail(c->g, "position %g is not one of those learned: max_len is %lld",
                             side->pos[i], (long long)n);
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){side->pos_B, side->T}, side->pos);
    peat_node *w = peat_reshape(c->g, peat_use(c, u), 2, (int64_t[]){c->H * C, c->dims.D});
    peat_node *x = peat_matmul(c->g, peat_gather_rows(c->g, p, index), w, PEAT_TRANS_B);
    x = peat_reshape(c->g, x, 4, (int64_t[]){side->pos_B, side->T, c->H, C});
    return peat_permute(c->g, x, 4, (int32_t[]){0, 2, 1, 3});
}

/* 1 at special tokens: [B, 1, Tq, 1] for the queries, [B, 1, 1, Tk] for the keys */
static peat_node *marks(const peat_call *c, const peat_side *side, int64_t Tq, int64_t Tk)
{
    double *is = peat_scratch(c, c->B * side->T);
    for (int64_t i = 0; is && i < c->B * side->T; i++)
        is[i] = side->special[i] != 0;
    return peat_fill(c, 4, (int64_t[]){c->B, 1, Tq, Tk}, is);
}

/* theta where mark is 1, score where it is 0 */
static peat_node *replace(const peat_call *c, peat_node *score, peat_node *mark, int32_t theta)
{
    peat_node *kept = peat_mul(c->g, score, peat_affine(c->g, mark, -1, 1));
    return peat_add(c->g, kept, peat_mul(c->g, mark, peat_use(c, theta)));
}

/* Rows after columns: between two special tokens the query decides. */
static peat_node *reset(const peat_call *c, peat_node *score)
{
    score = replace(c, score, marks(c, c->k, 1, c->k->T), THETA_KEY);
    return replace(c, score, marks(c, c->q, c->q->T, 1), THETA_QUERY);
}

/* (LN(p_i) U_Q) . (LN(p_j) U_K): [pos_B, H, Tq, Tk], or [B, H, Tq, Tk] after a reset; made
 * once for all layers unless shared less */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    (void)p;
    peat_node *position = peat_layernorm(c->g, peat_use(c, P), peat_use(c, NORM_WEIGHT),
                                         peat_use(c, NORM_SHIFT), 1e-5);
    peat_node *q = projected(c, position, c->q, U_Q), *k = projected(c, position, c->k, U_K);
    peat_node *score = peat_matmul(c->g, q, k, PEAT_TRANS_B);
    bool resets = ((const struct config *)c->config)->reset && c->q->special && c->k->special;
    return resets ? reset(c, score) : score;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_FINITE_LENGTH,
    .score_terms = 1,
    .setup = setup,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "tupe", "1.0",
            "positions meet positions through projections of their own", "MIT", "arXiv:2006.15595")
