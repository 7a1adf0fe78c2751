/* SPDX-License-Identifier: MIT */
/* results_parts.h: the steps in which results are read, in their order; only for results_rows.c and
 * its parts. Functions that return bool have set the error where they return false. */
#pragma once

#include "report/results.h"

/* Results while they are read. */
struct reader {
    struct results *r;
    const struct results_options *options;
    struct arena *a;
    struct error *err; /* set by the first step that fails */
};

/* ---- results_join.c: what makes one table ---- */

/* Reads the directories, whose plans must fit together. */
bool join_directories(struct reader *x, int n_dir, char *const *dir);
/* Sets the split that is reported: the test part; without a test part all held-out data, or the
 * half that is not used for choosing. Some cells with a test part and others without do not fit. */
bool join_split(struct reader *x);
/* Adds a cell to a row, whose cells must have the same settings. If two directories have the cell,
 * the copy with more values counts. */
bool join_cell(struct reader *x, struct result_row *row, struct result_cell *c);
/* Numbers the tasks of the rows. */
void join_tasks(struct results *r, struct arena *a);

/* ---- measures.c ---- */

/* Reads the measures of all cells, chooses the metric and its lengths, and points the cells to
 * their measures of it. The training loss has a split of its own. */
bool measures_read(struct reader *x);

/* ---- best_rows.c ---- */

/* Makes one row of rows that differ only on the axes of best_over, with the chosen value's cells at
 * the reported seeds. Without a chosen value its cells wait, or count as diverged when every value
 * diverged. The axes leave the table. */
peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err);

/* ---- comparison.c, within.c ---- */

/* Sets baseline, at and best of every row. */
peat_status results_compare(struct results *r, const struct results_options *o, struct arena *a,
                            struct error *err);
/* Sets within and the group of every row. within: report.within, a list of axes; NULL: the axes of
 * sizes, on which every two rows that differ on nothing else have different numbers of parameters
 * by their width, depth or feed-forward width, unless no two rows were left to rank. */
void results_group(struct results *r, const struct value *within, struct arena *a);
