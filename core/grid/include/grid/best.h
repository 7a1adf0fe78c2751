/* SPDX-License-Identifier: MIT */
/*
 * best.h: the value that best_over chooses for each row, and the role of each cell in the choice.
 *
 * Cells whose labels are equal on all other axes are one row of the table; with best_over.at, rows
 * that differ on its axes choose together, by the cells that have its labels. Each value in it has
 * a score: the mean of the metric over the seeds kept for choosing. The best score is chosen; of
 * equal ones the smaller value, or the earlier one where values are not numbers. A value with
 * such a cell that diverged, or measured no finite number, is not chosen. While one of these cells
 * has not come to an end, nothing is.
 */
#pragma once

#include "experiment/best_over.h"
#include "grid/cellstate.h"

enum best_role {
    BEST_CHOOSES,  /* of a seed kept for choosing                     */
    BEST_WAITS,    /* of another seed, and its row has no value yet    */
    BEST_REPORTED, /* of the row's value                              */
    BEST_UNCHOSEN /* of another value, of a row whose values all diverged, or of a seed for choosing
                     where nothing is chosen: never run */
};
extern const char *const best_role_words[]; /* "chooses", "waits", ... */

/* One cell; role and row are filled. */
struct best_cell {
    const char **label; /* of all axes; "-" where there is none */
    int64_t seed;
    enum cell_state state;
    const struct value *result; /* NULL: none */
    enum best_role role;
    int row;
};

struct best_value {
    const char **label;                /* of the chosen axes */
    int first;                         /* cell that has it   */
    double score;                      /* NaN: cannot be chosen, or not known yet */
    int n, open, diverged, not_finite; /* cells of seeds for choosing; those not ended, ... */
};

struct best_row {
    int n; /* in rising order */
    struct best_value *value;
    int chosen;         /* -1: none                                 */
    int open;           /* cells for choosing that have not come to an end */
    const char *metric; /* "": not known yet */
    bool goal_max;
    int64_t length; /* -1: not known yet */
};

struct best {
    struct best_over over;
    int n_axis;
    const char **axis; /* of the cells: keys */
    int n_cell;
    struct best_cell *cell;
    int n_row;
    struct best_row *row;
};

/* The axes and best_over of plan.json, with room for n cells, which the caller adds. PEAT_CORRUPT:
 * it is damaged. over.n_axis is 0 where nothing is chosen. */
peat_status best_open(struct best *b, const struct value *plan, int n, struct arena *a,
                      struct error *err);
/* A cell by its entry in plan.json. */
void best_add(struct best *b, const struct value *planned, enum cell_state state,
              const struct value *result, struct arena *a);
/* report: plan.json's. */
void best_choose(struct best *b, const struct value *report, struct arena *a);

/* The cell has the value. */
bool best_has_value(const struct best *b, const struct best_cell *c, const struct best_value *v);
/* The chosen value is the first (-1) or last (+1) of at least two, which are numbers of one axis:
 * one beyond may be better. Else 0. */
int best_at_edge(const struct best *b, const struct best_row *row);
