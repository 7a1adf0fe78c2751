/* SPDX-License-Identifier: MIT */
/* celltables.h: tables of a cell's scheme and combination. */
#ifndef DIAGNOSE_CELLTABLES_H
#define DIAGNOSE_CELLTABLES_H

#include "diagnose/celldiagnosis.h"
#include "inspect/scheme_table.h"

struct cell_table {
    const char *name; /* "learned", "film.scale", "bias.0" */
    const char *meaning;
    struct scheme_table table;
};

/*
 * With the weights that the model has now, of its first windows, in this order: the stream of each
 * scheme; what positions and tokens become in the model's input (diagnose/tables.h); what schemes
 * add to the logits of each layer; every node that a scheme or the combination names for
 * inspection. What differs from window to window is that of the first one. Nothing stands twice:
 * a layer with the same table as the layer before is left out. The tables live in d's memory.
 */
peat_status cell_tables(struct cell_diagnosis *d, struct cell_table **list, int *n,
                        struct error *err);

/* Root mean square, and the size of the difference of two tables of one shape over the size of x:
 * NaN where shapes differ or x is nothing. */
double table_size(const struct scheme_table *x);
double table_change(const struct scheme_table *x, const struct scheme_table *y);

#endif
