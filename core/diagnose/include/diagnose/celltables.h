/* SPDX-License-Identifier: MIT */
/* celltables.h: tables of a cell's scheme and combination. */
#pragma once

#include "diagnose/celldiagnosis.h"
#include "inspect/scheme_table.h"

struct cell_table {
    const char *name; /* "learned", "film.scale", "bias.0" */
    const char *meaning;
    struct scheme_table table;
};

/* Tables computed with the present weights (on the first window, where windows differ): the stream
 * of each scheme, positions and tokens in the model's input (diagnose/tables.h), the bias of each
 * layer that differs from the layer before, and every node named for inspection. They live in d's
 * memory. */
peat_status cell_tables(struct cell_diagnosis *d, struct cell_table **list, int *n,
                        struct error *err);

/* The root mean square of a table; and the size of the difference of two tables of one shape,
 * divided by the size of x: NaN where shapes differ or x is 0. */
double table_size(const struct scheme_table *x);
double table_change(const struct scheme_table *x, const struct scheme_table *y);
