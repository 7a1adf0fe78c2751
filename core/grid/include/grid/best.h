/* SPDX-License-Identifier: MIT */
/*
 * best.h: the value that best_over chooses for each row, and the role of each cell in the choice.
 *
 * Cells whose labels are equal on all other axes are one row of the table; with best_over.at, rows
 * that differ only on its axes share a choice, made by the cells that have its labels. Each value
 * of a row has a score: the mean of the metric over the seeds kept for choosing. The value with the
 * best score is chosen; among equal scores the smaller value, or the earlier one where values are
 * not numbers. A value is not chosen if one of its cells for choosing diverged or measured no
 * finite number. Nothing is chosen before all cells for choosing have ended.
 */
#pragma once

#include "experiment/best_over.h"
#include "grid/cellstate.h"

enum best_role {
    BEST_CHOOSES,  /* its seed is kept for choosing                   */
    BEST_WAITS,    /* has another seed, and its row has no value yet   */
    BEST_REPORTED, /* has its row's value                             */
    BEST_UNCHOSEN  /* has another value, or belongs to a row whose values all diverged, or its
                    * seed is for choosing and nothing is chosen: never run */
};
extern const char *const best_role_words[]; /* "chooses", "waits", ... */

/* One cell; best_choose sets role and row. */
struct best_cell {
    const char **label; /* labels of all axes; "-" on an axis that the cell does not have */
    int64_t seed;
    enum cell_state state;
    const struct value *result; /* NULL: no result */
    enum best_role role;
    int row;
};

struct best_value {
    const char **label;                /* labels of the chosen axes */
    int first;                         /* number of the first cell that has the value */
    double score;                      /* NaN: cannot be chosen, or not known yet */
    int n, open, diverged, not_finite; /* cells of seeds for choosing: all, those that have not
                                        * ended, ... */
};

struct best_row {
    int n; /* values in rising order */
    struct best_value *value;
    int chosen;         /* -1: nothing is chosen                    */
    int open;           /* number of cells for choosing that have not ended */
    const char *metric; /* "": not known yet */
    bool goal_max;
    int64_t length; /* -1: not known yet */
};

struct best {
    struct best_over over;
    int n_axis;
    const char **axis;  /* keys of the cells' axes */
    bool *chosen, *own; /* [n_axis] the axes whose value is chosen, and those whose labels have a
                         * choice of their own */
    int n_cell;
    struct best_cell *cell;
    int n_row;
    struct best_row *row;
};

/* Reads the axes and best_over of plan.json and makes room for n cells, which the caller adds.
 * PEAT_CORRUPT: plan.json is damaged. over.n_axis is 0 where nothing is chosen. */
peat_status best_open(struct best *b, const struct value *plan, int n, struct arena *a,
                      struct error *err);
/* Adds a cell by its entry in plan.json. */
void best_add(struct best *b, const struct value *planned, enum cell_state state,
              const struct value *result, struct arena *a);
/* report: the section of plan.json. */
void best_choose(struct best *b, const struct value *report, struct arena *a);

/* True where the cell has the value. */
bool best_has_value(const struct best *b, const struct best_cell *c, const struct best_value *v);
/* -1 or +1 where the chosen value is the first or last of at least two, which are numbers of one
 * axis, so that a value beyond it may be better. Otherwise 0. */
int best_at_edge(const struct best *b, const struct best_row *row);
