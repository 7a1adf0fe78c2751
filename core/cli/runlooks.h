/* SPDX-License-Identifier: MIT */
/* runlooks.h: runs an experiment whose seeds are added until its claims are decided. */
#pragma once

#include "cli/loadplan.h"
#include "grid/runner.h"

/* Runs the cells of one look after the other, and of each look only rows whose claims are
 * undecided. Stops when all claims are decided, after the last look, or when cells of a look have
 * not ended. Which cells are run depends on the results that exist, so a call after an
 * interruption continues with the same cells. *end covers all looks. */
bool run_looks(struct loaded_plan *l, const char *dir, const struct runner_options *o,
               const char *program, struct runner_end *end, struct error *err);
/* The index of a cell's seed among the reported ones; -1: it is kept for choosing. */
int look_place(const struct experiment *e, int64_t seed);
