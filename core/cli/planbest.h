/* SPDX-License-Identifier: MIT */
/* planbest.h: which cells of a plan will be run where best_over chooses among values. */
#ifndef CLI_PLANBEST_H
#define CLI_PLANBEST_H

#include "experiment/plan.h"

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

#endif
