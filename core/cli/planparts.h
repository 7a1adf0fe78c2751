/* SPDX-License-Identifier: MIT */
/* planparts.h: the parts of `peat plan`. */
#ifndef CLI_PLANPARTS_H
#define CLI_PLANPARTS_H

#include "base/json.h"
#include "cli/loadplan.h"

/* ---- planstate.c ---- */

/* The states of the cells, "todo", "done", ...; all "todo" without a run directory. NULL: *err
 * says why. A damaged result is named in *err without a failure. */
const char **plan_states(const char *dir, const struct plan *p, struct arena *a, struct error *err);
/* "4 todo, 2 done" */
void plan_states_count(const char *const *state, int n, struct strbuf *out);
/* Makes the run directory. */
peat_status plan_write(const char *dir, const struct plan *p, struct arena *a, struct error *err);

/* ---- planbest.c ---- */

/* Without best_over every cell is run; with it, all cells of the seeds for choosing, and for
 * each row the other cells of one value, here the first. */
struct plan_runs {
    int n;              /* cells that are run                      */
    int choosing;       /* of these, of seeds for choosing         */
    int rows;           /* of the table                            */
    int seeds;          /* that are reported                       */
    const bool *is_run; /* by the plan's cells                     */
};

void plan_runs_count(const struct plan *p, struct plan_runs *out, struct arena *a);
/* Prints a line on the choice and its cost; nothing without best_over. */
void plan_runs_say(const struct plan *p, const struct plan_runs *runs, struct arena *a);

/* ---- planclaims.c ---- */

/* Prints a line for each claim, or adds a map for each to the list. pilot: a run directory that
 * shows the spread of differences; NULL: none. */
void plan_claims(struct loaded_plan *l, const char *pilot, const struct json *list,
                 struct error *err);

/* ---- planseconds.c ---- */

/* Seconds of `work` FLOPs (plan_work) on this machine when it does nothing else, from a matrix
 * product that is timed for an instant; NaN: nothing here multiplies. Mostly right within a third;
 * starting a cell, 0.05 s of a processor, is not counted. */
double plan_seconds(const struct run_settings *run, double work);

/* ---- planwarnings.c ---- */

/* Prints a line for each row that starts with tokens and positions of very different sizes, and for
 * each row that is the same model, trained the same way, as a row before it. */
void plan_warn(const struct plan *p, struct arena *a);

#endif
