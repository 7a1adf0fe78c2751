/* SPDX-License-Identifier: MIT */
/* planstate.h: what became of the cells of a plan so far. */
#ifndef CLI_PLANSTATE_H
#define CLI_PLANSTATE_H

#include "experiment/plan.h"

/* The states of the cells, "todo", "done", ...; all "todo" without a run directory. NULL: *err
 * says why. A damaged result is named in *err without a failure. */
const char **plan_states(const char *dir, const struct plan *p, struct arena *a, struct error *err);
/* "4 todo, 2 done" */
void plan_states_count(const char *const *state, int n, struct strbuf *out);
/* Makes the run directory. */
peat_status plan_write(const char *dir, const struct plan *p, struct arena *a, struct error *err);

#endif
