/* SPDX-License-Identifier: MIT */
/* cellstate.h: the states of a cell. */
#pragma once

#include "base/base.h"

enum cell_state {
    CELL_TODO,    /* never started                            */
    CELL_RUNNING, /* its process holds the cell's lock        */
    CELL_PARTIAL, /* stopped before its end, with or without a checkpoint */
    CELL_DONE,
    CELL_DIVERGED, /* counts as done: divergence is a result   */
    CELL_FAILED,
    CELL_CRASHED,
    CELL_TIMEOUT,
    CELL_OOM,
    CELL_STALE,    /* done with another plugin; stale.json records it */
    CELL_DAMAGED,  /* done, but its files have changed since                 */
    CELL_WAITING,  /* never started: best_over has chosen no value for its row yet */
    CELL_UNCHOSEN, /* never started: best_over has chosen another value           */
    CELL_DECIDED,  /* never started: the claims about its row were decided before its seed */
    CELL_SKIPPED   /* refused by the plan: no directory, only a line in plan.json */
};

enum { CELL_STATES = CELL_SKIPPED + 1 };

const char *cell_state_name(enum cell_state s);
/* Done or diverged: there is a result. */
bool cell_has_ended(enum cell_state s);
/* Failed, crashed, timed out or out of memory. */
bool cell_has_failed(enum cell_state s);
