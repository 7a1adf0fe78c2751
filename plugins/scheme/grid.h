/* SPDX-License-Identifier: MIT */
/*
 * grid.h: rows and columns. Positions that the data has, on two axes, or those of a grid that is
 * read line by line.
 */
#ifndef SCHEME_GRID_H
#define SCHEME_GRID_H

#include <math.h>

#include <peat/plugin.h>

/* The first row of the parameters, for a config whose member `columns` it fills. */
#define GRID_COLUMNS_ROW(config_)                                                                  \
    {                                                                                              \
        "columns", PEAT_INT, offsetof(config_, columns),                                           \
            .min = 1, .max = 1 << 20,                                                              \
            .automatic = "the data's own rows and columns; of counted places the root of the "     \
                         "longest sequence, rounded up",                                           \
            .unit = "tokens", .doc = "width of the grid: tokens of a line", .flags = PEAT_AUTO     \
    }

/* The state that setup keeps in self. */
struct grid_width {
    int64_t columns; /* 0: the data has rows and columns */
};

/* Settles the width of the grid; *self is a struct grid_width. */
static inline peat_status grid_setup(peat_setup *s, int64_t columns, void **self)
{
    struct grid_width *g = (struct grid_width *)peat_alloc(s, sizeof(*g));
    if (!g)
        return PEAT_NOMEM;
    *self = g;
    if (s->dims.n_axes > 1 && columns > 0)
        return peat_refuse(s, "the data has its own rows and columns: leave columns = %lld out",
                           (long long)columns);
    if (s->dims.n_axes > 1)
        return PEAT_OK;
    g->columns = columns > 0 ? columns : (int64_t)ceil(sqrt((double)s->dims.T_max));
    peat_resolved(s, "columns", (double)g->columns);
    return PEAT_OK;
}

/* A side with the row of each place on axis 0 and its column on axis 1. False: no memory. */
static inline bool grid_side(const peat_call *c, const peat_side *side, peat_side *out)
{
    double columns = (double)((const struct grid_width *)c->self)->columns;
    int64_t n = side->pos_B * side->T;
    *out = *side;
    if (side->n_axes > 1)
        return true;
    double *pos = peat_scratch(c, 2 * n);
    for (int64_t i = 0; pos && i < n; i++) {
        pos[i] = floor(side->pos[i] / columns);
        pos[n + i] = side->pos[i] - pos[i] * columns;
    }
    out->n_axes = 2;
    out->pos = pos;
    return pos != NULL;
}

/* peat_rows of the rows and columns of a side; NULL: no memory. */
static inline peat_node *grid_rows(const peat_call *c, const peat_side *side, int64_t d,
                                   peat_row_fn row)
{
    peat_side grid;
    return grid_side(c, side, &grid) ? peat_rows(c, &grid, d, row) : NULL;
}

#endif
