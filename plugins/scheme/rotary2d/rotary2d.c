/* SPDX-License-Identifier: MIT */
/*
 * rotary2d.c: queries and keys turn with row and column.
 * Heo et al. 2024: axial, or mixed with trained frequencies.
 */
#include "../grid.h"

enum { BY_COLUMN, BY_ROW };                /* tensors, learned */
enum { COS_Q, SIN_Q, COS_K, SIN_K };       /* shared, axial    */
enum { COLUMN_Q, ROW_Q, COLUMN_K, ROW_K }; /* shared, learned  */

struct config {
    int64_t columns;
    bool learned;
    double base;
};

static const peat_param rows[] = {
    GRID_COLUMNS_ROW(struct config),
    {"learned", PEAT_BOOL, offsetof(struct config, learned), .preset = false,
     .doc = "train the frequencies of each layer and head, mixing both axes in every pair"},
    {"base", PEAT_REAL, offsetof(struct config, base), .min = 1, .max = 1e12,
     .automatic = "100, or 10 when learned",
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static double base_of(const struct config *k)
{
    return k->base > 0 ? k->base : k->learned ? 10 : 100;
}

/* Frequency i of the n = C/4 of an axis: base^(-i/n) */
static double frequency(const struct config *k, int64_t i, int64_t n)
{
    return pow(base_of(k), -(double)i / (double)n);
}

/* Column and row frequencies (f cos a, f sin a) of pair i, and at a right angle to them those of
 * pair n + i; the directions a of the heads are spread over a right angle. */
static peat_status add_frequencies(peat_setup *s, const struct config *k)
{
    int64_t n = s->dims.C / 4, H = s->dims.H;
    double *column = peat_alloc(s, (size_t)(2 * n * H) * sizeof(*column));
    double *line = peat_alloc(s, (size_t)(2 * n * H) * sizeof(*line));
    if (!column || !line)
        return PEAT_NOMEM;
    for (int64_t h = 0; h < H; h++)
        for (int64_t i = 0; i < n; i++) {
            double f = frequency(k, i, n), a = acos(0) * (double)h / (double)H;
            column[2 * n * h + i] = line[2 * n * h + n + i] = f * cos(a);
            line[2 * n * h + i] = f * sin(a);
            column[2 * n * h + n + i] = -f * sin(a);
        }
    peat_init by_column = {.kind = PEAT_INIT_VALUES, .values = column};
    peat_init by_row = {.kind = PEAT_INIT_VALUES, .values = line};
    const int64_t dim[] = {PEAT_HEADS, 2 * n};
    peat_param_new(s, "by_column", 2, dim, by_column, PEAT_PER_LAYER, PEAT_NO_DECAY);
    peat_param_new(s, "by_row", 2, dim, by_row, PEAT_PER_LAYER, PEAT_NO_DECAY);
    return PEAT_OK;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    if (s->dims.C % 4 != 0)
        return peat_refuse(s,
                           "a head width of %lld does not split into pairs of two axes: make it a "
                           "multiple of 4",
                           (long long)s->dims.C);
    peat_resolved(s, "base", base_of(k));
    peat_status status = grid_setup(s, k->columns, self);
    return status == PEAT_OK && k->learned ? add_frequencies(s, k) : status;
}

/* [column, row] of a place in the grid */
static void place_row(const void *config, const double *pos, double *out, int64_t d)
{
    (void)config;
    (void)d;
    out[0] = pos[1];
    out[1] = pos[0];
}

/* [cos angle | sin angle]: of the C/2 pairs the first half turns with the column, the second with
 * the row */
static void turn_row(const void *config, const double *pos, double *out, int64_t C)
{
    int64_t n = C / 4;
    const double place[] = {pos[1], pos[0]};
    for (int64_t i = 0; i < 2 * n; i++) {
        double angle = place[i / n] * frequency(config, i % n, n);
        out[i] = cos(angle);
        out[2 * n + i] = sin(angle);
    }
}

/* The halves of row's d values at a side, each [pos_B, 1, T, d/2] */
static void halves(const peat_call *c, const peat_side *side, int64_t d, peat_row_fn row,
                   peat_node **half)
{
    peat_node *x = grid_rows(c, side, d, row);
    x = peat_reshape(c->g, x, 4, (int64_t[]){side->pos_B, 1, side->T, d});
    half[0] = peat_slice(c->g, x, -1, 0, d / 2);
    half[1] = peat_slice(c->g, x, -1, d / 2, d);
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    bool learned = ((const struct config *)c->config)->learned;
    int64_t d = learned ? 2 : c->dims.C;
    halves(c, c->q, d, learned ? place_row : turn_row, shared);
    halves(c, c->k, d, learned ? place_row : turn_row, shared + 2);
    return PEAT_OK;
}

/* angle [pos_B,H,T,C/2] = column * by_column + row * by_row */
static peat_node *mixed(const peat_call *c, peat_node *x, peat_node *column, peat_node *line)
{
    const int64_t dim[] = {1, c->H, 1, c->dims.C / 2};
    peat_node *by_column = peat_reshape(c->g, peat_use(c, BY_COLUMN), 4, dim);
    peat_node *by_row = peat_reshape(c->g, peat_use(c, BY_ROW), 4, dim);
    peat_node *angle =
        peat_add(c->g, peat_mul(c->g, column, by_column), peat_mul(c->g, line, by_row));
    return peat_turned(c, x, peat_cos(c->g, angle), peat_sin(c->g, angle), PEAT_INTERLEAVED);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *const *s = c->shared;
    if (((const struct config *)c->config)->learned) {
        io->q = mixed(c, io->q, s[COLUMN_Q], s[ROW_Q]);
        io->k = mixed(c, io->k, s[COLUMN_K], s[ROW_K]);
    } else {
        io->q = peat_turned(c, io->q, s[COS_Q], s[SIN_Q], PEAT_INTERLEAVED);
        io->k = peat_turned(c, io->k, s[COS_K], s[SIN_K], PEAT_INTERLEAVED);
    }
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NORM_PRESERVING,
    .max_axes = 2,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "rotary2d", "1.0",
            "queries and keys turn with row and column", "MIT", "arXiv:2403.13298")
