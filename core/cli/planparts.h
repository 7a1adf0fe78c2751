/* SPDX-License-Identifier: MIT */
/* planparts.h: the parts of `peat plan`. */
#pragma once

#include "cli/loadplan.h"
#include "grid/cellstate.h"

/* ---- planstate.c ---- */

/* The states of the cells; all CELL_TODO without a run directory. NULL: *err says why. A damaged
 * file is named in *err without a failure. */
enum cell_state *plan_states(const char *dir, const struct plan *p, struct arena *a,
                             struct error *err);
/* "4 todo, 2 done" */
void plan_states_count(const char *const *state, int n, struct strbuf *out);
/* Makes the run directory. */
bool plan_write(const char *dir, const struct plan *p, struct arena *a, struct error *err);

/* ---- planbest.c ---- */

/* Counts the cells that are run: without best_over every cell; with it, all cells of the seeds for
 * choosing, and for each row the other cells of one value, here the first. */
struct plan_runs {
    int n;              /* number of cells that are run            */
    int choosing;       /* number of these with seeds for choosing */
    int rows;           /* number of rows of the table             */
    int choices;        /* number of choices: one for each row unless best_over has `at` */
    int seeds;          /* number of cells that are reported       */
    const bool *is_run; /* [plan's cells] whether the cell is run  */
};

void plan_runs_count(const struct plan *p, struct plan_runs *out, struct arena *a);
/* Prints a line on the choice and its cost; nothing without best_over. */
void plan_runs_say(const struct plan *p, const struct plan_runs *runs, struct arena *a);

/* ---- planclaims.c ---- */

/* Prints a line for each claim, or adds a map for each to the list. pilot: a run directory that
 * shows the spread of differences; NULL: no pilot. */
void plan_claims(struct loaded_plan *l, const char *pilot, const struct json *list,
                 struct error *err);

/* Prints how many seeds the table's test of differences to the baseline needs; prints nothing
 * without a baseline. */
void plan_say_comparisons(const struct plan *p, const struct plan_runs *runs);

/* ---- planlooks.c ---- */

/* Prints the looks at the claims and the cost of the first compared with all; prints nothing where
 * the number of seeds is fixed. */
void plan_say_looks(const struct plan *p, const struct plan_runs *runs, struct arena *a);

/* ---- planmeasure.c ---- */

/* Estimates the time of the cells with is_run, each from a step on (plan_shared_steps), by running
 * some steps and an evaluation of each kind of cell: "about 5m10s here, from ...", on the cores of
 * the plan's jobs and threads, when the machine does nothing else. NULL: *err has the reason. */
const char *plan_measure(const struct plan *p, const bool *is_run, const int64_t *from,
                         struct arena *a, struct error *err);

/* ---- planchange.c ---- */

/* Why the cell with this directory is not the planned one: its plugin, a setting or its data. */
const char *plan_change(const char *dir, const struct plan_cell *c, struct arena *a);

/* ---- planwarnings.c ---- */

/* Prints "what: learned.sum.s0 and 3 rows more: text", with `end` behind it, for each different
 * text of the rows of the first seed; NULL: the row has none. */
void plan_say_rows(const struct plan *p, const char *what, const char *const *text, const char *end,
                   struct arena *a);
/* Prints the skipped rows of the first seed, a line for each reason. */
void plan_say_skipped(const struct plan *p, struct arena *a);

/* Prints a line for each row that starts with tokens and positions of very different sizes, that
 * warms up for longer than it trains, or that is the same model, trained the same way, as a row
 * before it, and a line where a cell needs more memory than is free. */
void plan_warn(const struct plan *p, struct arena *a);
