/* SPDX-License-Identifier: MIT */
/* runlooks.h: running an experiment whose seeds are added until its claims are decided. */
#pragma once

#include "cli/loadplan.h"
#include "grid/runner.h"

/* Runs the cells of one look after the other: of each those of rows whose claims are open. Stops
 * where all claims are decided, after the last look, and where cells of a look have not ended. What
 * it does follows from the results there are, so that a call after an interruption goes on with the
 * same cells. *end is of all looks together. */
peat_status run_looks(struct loaded_plan *l, const char *dir, const struct runner_options *o,
                      const char *program, struct runner_end *end, struct error *err);
/* The place of a cell's seed among the reported ones; -1: it is kept for choosing. */
int look_place(const struct experiment *e, int64_t seed);
