/* SPDX-License-Identifier: MIT */
/*
 * deberta.c: contents meet trained vectors of the distance, both ways, through the projections of
 * the tokens. He et al. 2021, section 3.1.
 */
#include <math.h>

#include <peat/plugin.h>

#include "../relative.h"

enum { TABLE, W_Q, W_K };
enum { SHARED, OWN };
enum { RELEASED, PAPER };
enum { LINEAR, LOG };
enum { C2P, P2C, ROWS };

struct config {
    int64_t clip, projection, p2c, buckets, max_distance;
    bool query_bias, norm;
    double init_std;
};

static const char *const projections[] = {"shared", "own", NULL};
static const char *const forms[] = {"released", "paper", NULL};
static const char *const spacings[] = {"linear", "log", NULL};

static const peat_param rows[] = {
    {"clip", PEAT_INT, offsetof(struct config, clip), .min = 1, .max = 1 << 20,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "from here on all distances of a side share a vector", .flags = PEAT_AUTO},
    {"projection", PEAT_ENUM, offsetof(struct config, projection), .preset = SHARED,
     .labels = projections, .doc = "the tokens' W_q and W_k, or matrices of its own per layer"},
    {"query_bias", PEAT_BOOL, offsetof(struct config, query_bias), .preset = true,
     .doc = "own projections: those that make queries have a bias"},
    {"p2c", PEAT_ENUM, offsetof(struct config, p2c), .preset = RELEASED, .labels = forms,
     .doc = "which vector position-to-content takes: row(i - j), as the released models, or "
            "row(j - i), as the paper's equation 4"},
    {"buckets", PEAT_ENUM, offsetof(struct config, buckets), .preset = LINEAR, .labels = spacings,
     .doc = "distances one by one, or in logarithmic buckets from clip / 2 on"},
    {"max_distance", PEAT_INT, offsetof(struct config, max_distance), .min = 2, .max = 1 << 20,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "log: from here on all distances of a side share a vector", .flags = PEAT_AUTO},
    {"norm", PEAT_BOOL, offsetof(struct config, norm), .preset = false,
     .doc = "layer normalisation of the vectors"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 1e-6,
     .max = 1e3, .doc = "standard deviation of the initial vectors"},
    PEAT_PARAM_END,
};

struct deberta {
    int64_t clip, max_distance;
    int32_t query_bias, norm; /* tensors */
};

static void add_tensors(peat_setup *s, const struct config *k, struct deberta *t)
{
    int64_t D = s->dims.D;
    peat_init table = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_init matrix = {.kind = PEAT_INIT_NORMAL, .b = 1 / sqrt((double)D)};
    peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1}, zero = {.kind = PEAT_INIT_ZERO};
    const int64_t head_dim[] = {PEAT_HEADS, s->dims.C, D};
    peat_param_new(s, "p", 2, (int64_t[]){2 * t->clip, D}, table, PEAT_ONCE, 0);
    if (k->projection == OWN) {
        peat_param_new(s, "w_q", 3, head_dim, matrix, PEAT_PER_LAYER, 0);
        peat_param_new(s, "w_k", 3, head_dim, matrix, PEAT_PER_LAYER, 0);
        if (k->query_bias)
            t->query_bias =
                peat_param_new(s, "b_q", 2, head_dim, zero, PEAT_PER_LAYER, PEAT_NO_DECAY);
    }
    if (k->norm) {
        t->norm = peat_param_new(s, "norm_weight", 1, &D, one, PEAT_ONCE, 0);
        peat_param_new(s, "norm_shift", 1, &D, zero, PEAT_ONCE, 0);
    }
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct deberta *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->clip = k->clip ? k->clip : s->dims.T_train;
    t->max_distance = k->max_distance ? k->max_distance : s->dims.T_train;
    if (k->buckets == LOG && (t->clip < 2 || t->max_distance <= t->clip / 2 + 1))
        return peat_refuse(s,
                           "logarithmic buckets need clip = %lld to be 2 or more and max_distance "
                           "= %lld to be more than clip / 2 + 1",
                           (long long)t->clip, (long long)t->max_distance);
    peat_resolved(s, "clip", (double)t->clip);
    peat_resolved(s, "max_distance", (double)t->max_distance);
    add_tensors(s, k, t);
    *self = t;
    return PEAT_OK;
}

/* Rows of the table that distances [lo, hi] have: min(max(d, -clip), clip - 1) + clip. */
struct part {
    int64_t lo, hi;
};

/* p2c takes j - i as the paper has it. */
static bool takes_back(const peat_call *c, int which)
{
    return which == P2C && ((const struct config *)c->config)->p2c == PAPER;
}

/* A causal model never sees the future, which is half of the rows. */
static struct part part_of(const peat_call *c, int which)
{
    int64_t clip = ((const struct deberta *)c->self)->clip;
    bool causal = c->dims.causal, back = takes_back(c, which);
    return (struct part){.lo = causal && !back ? 0 : -clip, .hi = causal && back ? 0 : clip - 1};
}

/* Logarithmic: as it is up to clip / 2, from there to clip - 1 at max_distance - 1. */
static double bucket(const peat_call *c, double d)
{
    const struct deberta *t = c->self;
    double middle = floor((double)t->clip / 2), last = (double)t->max_distance - 1;
    double far = fmin(fabs(d), last);
    if (far <= middle)
        return d;
    return copysign(middle + ceil(log(far / middle) / log(last / middle) * (middle - 1)), d);
}

/* c2p takes rows as [Tq,Tk], p2c as [Tk,Tq]. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const struct config *k = c->config;
    const struct deberta *t = c->self;
    double (*in)(const peat_call *, double) = k->buckets == LOG ? bucket : NULL;
    double sign = takes_back(c, P2C) ? 1 : -1;
    struct part c2p = part_of(c, C2P), p2c = part_of(c, P2C);
    peat_node *table = peat_use(c, TABLE);
    if (k->norm)
        table = peat_layernorm(c->g, table, peat_use(c, t->norm), peat_use(c, t->norm + 1), 1e-7);
    shared[ROWS] = peat_reshape(c->g, table, 3, (int64_t[]){1, 2 * t->clip, c->dims.D});
    shared[C2P] = relative_signed(c, c->q, c->k, 1, in, c2p.lo, c2p.hi);
    shared[P2C] = relative_signed(c, c->k, c->q, sign, in, p2c.lo, p2c.hi);
    return PEAT_OK;
}

/* The vectors of a part as queries (0) or keys (1): [1,H,rows,C] */
static peat_node *projected(const peat_call *c, struct part part, int32_t which)
{
    const struct deberta *t = c->self;
    const struct config *k = c->config;
    int64_t C = c->dims.C, first = t->clip + part.lo, end = t->clip + part.hi + 1;
    peat_node *vectors = peat_slice(c->g, c->shared[ROWS], 1, first, end);
    if (k->projection == SHARED)
        return peat_project(c, vectors, which);
    peat_node *w = peat_use(c, which == 0 ? W_Q : W_K);
    w = peat_reshape(c->g, w, 2, (int64_t[]){c->H * C, c->dims.D});
    peat_node *r = peat_matmul(c->g, vectors, w, PEAT_TRANS_B);
    if (which == 0 && k->query_bias) {
        peat_node *b = peat_use(c, t->query_bias);
        r = peat_add(c->g, r, peat_reshape(c->g, b, 1, (int64_t[]){c->H * C}));
    }
    r = peat_reshape(c->g, r, 4, (int64_t[]){1, -1, c->H, C});
    return peat_permute(c->g, r, 4, (int32_t[]){0, 2, 1, 3});
}

/* q_i . K_r[row(i - j)] + k_j . Q_r[row(i - j)], or Q_r[row(j - i)] in the paper's form */
static peat_node *score_add(const peat_call *c, const peat_qkv *p)
{
    peat_node *keys = projected(c, part_of(c, C2P), 1);
    peat_node *queries = projected(c, part_of(c, P2C), 0);
    peat_node *c2p = peat_matmul_take(c->g, p->q, keys, PEAT_TRANS_B, c->shared[C2P]);
    peat_node *p2c = peat_matmul_take(c->g, p->k, queries, PEAT_TRANS_B, c->shared[P2C]);
    return peat_add(c->g, c2p, peat_permute(c->g, p2c, 4, (int32_t[]){0, 1, 3, 2}));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_QK | PEAT_NEED_PROJECT,
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_CONTENT_DEPENDENT,
    .score_terms = 2,
    .setup = setup,
    .prepare = prepare,
    .score_add = score_add,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "deberta", "2.0",
            "contents meet vectors of the distance, both ways", "MIT", "arXiv:2006.03654")
