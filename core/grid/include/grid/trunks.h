/* SPDX-License-Identifier: MIT */
/* trunks.h: the states in a run directory that its cells leave for each other (cell/trunk.h). */
#pragma once

#include "grid/rundir.h"

struct kept_state {
    const char *trunk, *name; /* names of folders: "1a2b3c4d5e6f7a8b", "step-00001200" */
};
/* All of them, sorted, in the arena; *n. */
struct kept_state *trunks_list(const char *run, struct arena *a, int *n);
/* NULL: it is whole and of its trunk. Else why no cell will use it. */
const char *kept_state_fault(const char *run, const struct kept_state *s, struct arena *a);
/* Removes the trunks that no cell of the plan may continue from. What cannot be removed stays. */
void trunks_tidy(const struct rundir *r, struct arena *a);
