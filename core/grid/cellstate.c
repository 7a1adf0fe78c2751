/* SPDX-License-Identifier: MIT */
/* cellstate.c: the states of a cell. */
#include "grid/cellstate.h"

static const char *const state_names[CELL_STATES] = {
    "todo", "running", "partial", "done",    "diverged", "failed",  "crashed", "timeout",
    "oom",  "stale",   "damaged", "waiting", "unchosen", "decided", "skipped",
};

const char *cell_state_name(enum cell_state s)
{
    return state_names[s];
}

bool cell_has_ended(enum cell_state s)
{
    return s == CELL_DONE || s == CELL_DIVERGED;
}

bool cell_has_failed(enum cell_state s)
{
    return s == CELL_FAILED || s == CELL_CRASHED || s == CELL_TIMEOUT || s == CELL_OOM;
}
