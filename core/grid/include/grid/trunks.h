/* SPDX-License-Identifier: MIT */
/* trunks.h: states in a run directory that cells keep for each other (cell/trunk.h). */
#pragma once

#include "grid/rundir.h"

struct kept_state {
    const char *trunk, *name; /* names of folders: "1a2b3c4d5e6f7a8b", "step-00001200" */
};
/* All states, sorted, in the arena; *n is their number. */
struct kept_state *trunks_list(const char *run, struct arena *a, int *n);
/* Why no cell will use the state; NULL: it is whole and belongs to its trunk. */
const char *kept_state_fault(const char *run, const struct kept_state *s, struct arena *a);
/* Removes trunks from which no planned cell may continue. Undeletable files stay. */
void trunks_tidy(const struct rundir *r, struct arena *a);
