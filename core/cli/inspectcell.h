/* SPDX-License-Identifier: MIT */
/* inspectcell.h: `peat inspect DIR CELL`: the tables of a cell, before training and after. */
#pragma once

#include "cli/command.h"
#include "diagnose/celltables.h"

struct inspected_cell {
    struct cell_diagnosis start, now; /* `now` is not opened with start_only */
    bool start_only;                  /* the user asked for it, or the cell has no weights */
    int n, n_start;
    struct cell_table *table, *table_start;
};

/* Opens the cell of the operands with its present and its initial weights. Call
 * inspected_cell_close also after a failure. */
peat_status inspected_cell_open(struct inspected_cell *c, const struct cli *cli, bool start_only,
                                const struct team *team);
void inspected_cell_close(struct inspected_cell *c);

/* The table of this name, or the first (name NULL); NULL: no table, and *err lists the names. */
const struct cell_table *inspected_table(const struct inspected_cell *c, const char *name,
                                         struct error *err);
/* The table before training; NULL: no table of the same shape. */
const struct scheme_table *inspected_before(const struct inspected_cell *c,
                                            const struct cell_table *table);
/* Prints a line for each table: its size, and how far training moved it. */
void inspected_list(const struct inspected_cell *c, int width, struct strbuf *out, struct arena *a);
