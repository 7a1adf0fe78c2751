/* SPDX-License-Identifier: MIT */
/* planstate.h: what became of the cells of a plan so far. */
#ifndef CLI_PLANSTATE_H
#define CLI_PLANSTATE_H

#include "experiment/plan.h"

struct plan_state {
    const char **name; /* by cell: "todo", "done", ... */
};

/* The states of the plan's cells in the run directory; all "todo" where there is none. A damaged
 * result is told in *err without failing. */
peat_status plan_state_read(struct plan_state *s, const char *dir, const struct plan *p,
                            struct arena *a, struct error *err);
/* Makes the run directory. */
peat_status plan_state_write(const char *dir, const struct plan *p, struct arena *a,
                             struct error *err);
const char *plan_state_name(const struct plan_state *s, int cell);
/* "4 todo, 2 done" */
void plan_state_counts(const struct plan_state *s, int n, struct strbuf *out);
/* plan with "state" in each cell. */
struct value *plan_state_value(const struct plan_state *s, struct value *plan, struct arena *a);

#endif
