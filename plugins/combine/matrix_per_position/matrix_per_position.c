/* SPDX-License-Identifier: MIT */
/* matrix_per_position.c: a trained matrix for each position acts on the token embedding. */
#include <math.h>

#include <peat/plugin.h>

#include "../widths.h"

enum { FULL, LOW_RANK, DIAGONAL, BLOCK_ROTATION };
enum { TABLE, SECOND };

struct config {
    int64_t kind, rank, max_len;
    double init_std;
};

static const char *const kinds[] = {"full", "low_rank", "diagonal", "block_rotation", NULL};

static const peat_param rows[] = {
    {"kind", PEAT_ENUM, offsetof(struct config, kind), .preset = FULL, .labels = kinds,
     .doc = "what is trained of each matrix"},
    {"rank", PEAT_INT, offsetof(struct config, rank), .preset = 4, .min = 1, .max = 1 << 16,
     .doc = "rank of the change that low_rank makes"},
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that have a matrix; longer sequences are refused", .flags = PEAT_AUTO},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.1, .min = 0, .max = 1e3,
     .doc = "size of the initial change, relative to the embedding; angles in radians"},
    PEAT_PARAM_END,
};

struct matrices {
    int64_t n; /* positions */
};

static void add_tables(peat_setup *s, const struct config *k, int64_t n, int64_t D)
{
    double std = k->init_std;
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = std};
    if (k->kind == FULL) {
        init.b = std / sqrt((double)D);
        peat_param_new(s, "matrix", 2, (int64_t[]){n, D * D}, init, PEAT_ONCE, 0);
    } else if (k->kind == LOW_RANK) {
        init.b = 1 / sqrt((double)D);
        peat_param_new(s, "in", 2, (int64_t[]){n, D * k->rank}, init, PEAT_ONCE, 0);
        init.b = std / sqrt((double)k->rank);
        peat_param_new(s, "out", 2, (int64_t[]){n, k->rank * D}, init, PEAT_ONCE, 0);
    } else if (k->kind == DIAGONAL) {
        peat_param_new(s, "scale", 2, (int64_t[]){n, D}, init, PEAT_ONCE, 0);
    } else {
        peat_param_new(s, "angle", 2, (int64_t[]){n, D / 2}, init, PEAT_ONCE, 0);
    }
}

static peat_status setup(peat_setup *s, const void *config, int32_t n, const char *const *stream,
                         int64_t *width, int64_t *D, void **self)
{
    const struct config *k = config;
    struct matrices *m = peat_alloc(s, sizeof(*m));
    if (!m)
        return PEAT_NOMEM;
    m->n = k->max_len ? k->max_len : s->dims.T_max;
    if (s->dims.T_max > m->n)
        return peat_refuse(s,
                           "has matrices for max_len = %lld positions, but sequences of %lld are "
                           "evaluated; raise max_len",
                           (long long)m->n, (long long)s->dims.T_max);
    if (k->kind == BLOCK_ROTATION && *D % 2)
        return peat_refuse(s, "rotates pairs of dimensions, and %lld is odd", (long long)*D);
    peat_resolved(s, "max_len", (double)m->n);
    add_tables(s, k, m->n, *D);
    *self = m;
    return widths_equal(s, n, stream, width, *D);
}

/* Rows of a table at the positions of this call: [pos_B, T, columns]. */
static peat_node *at_positions(const peat_call *c, int32_t table)
{
    int64_t n = ((const struct matrices *)c->self)->n, count = c->q->pos_B * c->q->T;
    for (int64_t i = 0; i < count; i++)
        if (!(c->q->pos[i] >= 0 && c->q->pos[i] < (double)n))
            return peat_fail(c->g, "position %g has no matrix: max_len is %lld", c->q->pos[i],
                             (long long)n);
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->q->pos_B, c->q->T}, c->q->pos);
    return peat_gather_rows(c->g, peat_use(c, table), index);
}

/* x times a matrix [in, out] for each position. Rows that share their positions share the product:
 * x stands as [positions, rows, in]. */
static peat_node *times(const peat_call *c, peat_node *x, int32_t table, int64_t in, int64_t out)
{
    int64_t n = c->q->pos_B * c->q->T;
    peat_node *matrix = peat_reshape(c->g, at_positions(c, table), 3, (int64_t[]){n, in, out});
    return peat_matmul(c->g, x, matrix, 0);
}

/* y = x + x N_p, or x + x V_p U_p */
static peat_node *multiplied(const peat_call *c, peat_node *x)
{
    const struct config *k = c->config;
    peat_graph *g = c->g;
    int64_t B = c->B, T = c->q->T, D = c->dims.D;
    bool shared = c->q->pos_B == 1;
    static const int32_t swap[] = {1, 0, 2};
    peat_node *u =
        shared ? peat_permute(g, x, 3, swap) : peat_reshape(g, x, 3, (int64_t[]){B * T, 1, D});
    if (k->kind == FULL)
        u = times(c, u, TABLE, D, D);
    else
        u = times(c, times(c, u, TABLE, D, k->rank), SECOND, k->rank, D);
    u = shared ? peat_permute(g, u, 3, swap) : peat_reshape(g, u, 3, (int64_t[]){B, T, D});
    return peat_add(g, x, u);
}

/* R_p or (1 + s_p), or one of the products above */
static peat_node *changed(const peat_call *c, peat_node *x)
{
    const struct config *k = c->config;
    peat_graph *g = c->g;
    if (k->kind == FULL || k->kind == LOW_RANK)
        return multiplied(c, x);
    peat_node *row = at_positions(c, TABLE);
    if (k->kind == DIAGONAL)
        return peat_mul(g, x, peat_affine(g, row, 1, 1));
    return peat_rotate(g, x, peat_cos(g, row), peat_sin(g, row), PEAT_INTERLEAVED);
}

/* y = M_p x_0 + x_1 + x_2 + ... */
static peat_node *merge(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *y = changed(c, x[0]);
    for (int32_t i = 1; i < n; i++)
        y = peat_add(c->g, y, x[i]);
    return y;
}

static const peat_combine combine = {
    .size = sizeof(combine),
    .min_streams = 1,
    .setup = setup,
    .merge = merge,
    .traits = PEAT_STORABLE,
};

PEAT_DEFINE(PEAT_COMBINE, combine, struct config, rows, "matrix_per_position", "1.0",
            "a trained matrix for each position acts on the token embedding", "MIT", "")
