/* SPDX-License-Identifier: MIT */
/*
 * relative.h: tables with a row for each difference of positions. Scores against the whole table,
 * [Tq, R] of one head at a time, are computed and picked by matmul_take: no [Tq, Tk, C] is ever
 * made.
 */
#ifndef SCHEME_RELATIVE_H
#define SCHEME_RELATIVE_H

#include <math.h>

#include <peat/plugin.h>

static inline double relative_position(const peat_side *s, int64_t b, int64_t t)
{
    return s->pos[(s->pos_B == 1 ? 0 : b) * s->T + t];
}

/* sign (pos_row - pos_column), in buckets where `bucket` is given, brought into [lo, hi] and
 * counted from lo. */
static inline peat_node *relative_signed(const peat_call *c, const peat_side *row,
                                         const peat_side *column, double sign,
                                         double (*bucket)(const peat_call *, double), int64_t lo,
                                         int64_t hi)
{
    int64_t B = row->pos_B > column->pos_B ? row->pos_B : column->pos_B;
    double *at = peat_scratch(c, B * row->T * column->T), *next = at;
    for (int64_t b = 0; at && b < B; b++)
        for (int64_t i = 0; i < row->T; i++)
            for (int64_t j = 0; j < column->T; j++) {
                double d = sign * (relative_position(row, b, i) - relative_position(column, b, j));
                d = bucket ? bucket(c, d) : d;
                *next++ = fmin(fmax(d, (double)lo), (double)hi) - (double)lo;
            }
    return peat_fill_index(c, 4, (int64_t[]){B, 1, row->T, column->T}, at);
}

/* Rows of a table for pos_row - pos_column, clipped to [lo, hi]: I32 [1|B, 1, rows, columns]. */
static inline peat_node *relative_index(const peat_call *c, const peat_side *row,
                                        const peat_side *column, int64_t lo, int64_t hi)
{
    return relative_signed(c, row, column, 1, NULL, lo, hi);
}

/* Rows of a table for pos_column - pos_row, clipped to [lo, hi]. */
static inline peat_node *relative_index_back(const peat_call *c, const peat_side *row,
                                             const peat_side *column, int64_t lo, int64_t hi)
{
    return relative_signed(c, row, column, -1, NULL, lo, hi);
}

/* The largest distance of a query from a key, rounded up. */
static inline int64_t relative_reach(const peat_call *c)
{
    double reach = 0;
    int64_t B = c->q->pos_B > c->k->pos_B ? c->q->pos_B : c->k->pos_B;
    for (int64_t b = 0; b < B; b++) {
        double q_min = INFINITY, q_max = -INFINITY, k_min = INFINITY, k_max = -INFINITY;
        for (int64_t i = 0; i < c->q->T; i++) {
            q_min = fmin(q_min, relative_position(c->q, b, i));
            q_max = fmax(q_max, relative_position(c->q, b, i));
        }
        for (int64_t j = 0; j < c->k->T; j++) {
            k_min = fmin(k_min, relative_position(c->k, b, j));
            k_max = fmax(k_max, relative_position(c->k, b, j));
        }
        reach = fmax(reach, fmax(q_max - k_min, k_max - q_min));
    }
    return (int64_t)ceil(reach);
}

/* Rows of d numbers of every distance pos_q - pos_k that occurs, *rows [1, R, d], and the row of
 * each pair, *index. A causal model needs none of the future. */
static inline peat_status relative_rows(const peat_call *c, int64_t d, peat_row_fn row,
                                        peat_node **index, peat_node **rows)
{
    int64_t reach = relative_reach(c), first = c->dims.causal ? 0 : -reach;
    int64_t n = reach - first + 1;
    double *distance = peat_scratch(c, n);
    if (!distance)
        return PEAT_NOMEM;
    for (int64_t i = 0; i < n; i++)
        distance[i] = (double)(first + i);
    const peat_side all = {.size = sizeof(all), .T = n, .pos_B = 1, .n_axes = 1, .pos = distance};
    *index = relative_index(c, c->q, c->k, first, reach);
    *rows = peat_rows(c, &all, d, row);
    return PEAT_OK;
}

#endif
