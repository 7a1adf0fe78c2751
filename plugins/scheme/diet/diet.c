/* SPDX-License-Identifier: MIT */
/*
 * diet.c: each head has trained logits of positions, apart from what the tokens say: a product of
 * two tables of position vectors, or one number per distance. Chen et al. 2021, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

enum { ABSOLUTE, RELATIVE };
enum { QUERY, KEY };

struct config {
    int64_t kind, width, max_len;
    double init_std;
};

static const char *const kinds[] = {"absolute", "relative", NULL};

static const peat_param rows[] = {
    {"kind", PEAT_ENUM, offsetof(struct config, kind), .preset = ABSOLUTE, .labels = kinds,
     .doc = "P_Q[i] . P_K[j] of two positions, or R[j - i] of their difference"},
    {"width", PEAT_INT, offsetof(struct config, width), .min = 1, .max = 1 << 16,
     .automatic = "the width of a head", .doc = "absolute: components of a position vector, per head",
     .flags = PEAT_AUTO},
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that are learned", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial tables"},
    PEAT_PARAM_END,
};

struct diet {
    int64_t n, width; /* positions */
};

/* Relative: a causal model has rows for distances 0 .. n-1 alone, an encoder for both signs. */
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
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    if (k->kind == RELATIVE) {
        int64_t differences = s->dims.causal ? t->n : 2 * t->n - 1;
        peat_param_new(s, "r", 2, (int64_t[]){differences, PEAT_HEADS}, init, PEAT_PER_USER, 0);
    } else {
        const int64_t dim[] = {t->n, PEAT_HEADS, t->width};
        peat_resolved(s, "width", (double)t->width);
        peat_param_new(s, "p_q", 3, dim, init, PEAT_PER_USER, 0);
        peat_param_new(s, "p_k", 3, dim, init, PEAT_PER_USER, 0);
    }
    *self = t;
    return PEAT_OK;
}

/* Rows of a table for these values plus an offset, in 0 .. n-1; NULL after a failure. */
static peat_node *index_of(const peat_call *c, int32_t rank, const int64_t *dim,
                           const double *value, int64_t offset, int64_t n)
{
    int64_t count = rank == 1 ? dim[0] : dim[0] * dim[1];
    double *row = peat_scratch(c, count);
    for (int64_t i = 0; row && i < count; i++) {
        row[i] = value[i] + (double)offset;
        if (!(row[i] >= 0 && row[i] <= (double)(n - 1)) || row[i] != floor(row[i]))
            return peat_fail(c->g, "position or difference %g is not among those learned: max_len "
                                   "is %lld",
                             value[i], (long long)((const struct diet *)c->self)->n);
    }
    return peat_fill_index(c, rank, dim, row);
}

/* Position vectors of a side: [pos_B, H, T, width] */
static peat_node *vectors(const peat_call *c, const peat_side *side, int32_t handle)
{
    const struct diet *t = c->self;
    const int64_t dim[] = {side->pos_B, side->T};
    peat_node *index = index_of(c, 2, dim, side->pos, 0, t->n);
    peat_node *table = peat_reshape(c->g, peat_use(c, handle), 2, (int64_t[]){t->n, -1});
    peat_node *row = peat_gather_rows(c->g, table, index);
    row = peat_reshape(c->g, row, 4, (int64_t[]){side->pos_B, side->T, c->H, t->width});
    return peat_permute(c->g, row, 4, (int32_t[]){0, 2, 1, 3});
}
