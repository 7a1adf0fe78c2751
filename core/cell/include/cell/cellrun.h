/* SPDX-License-Identifier: MIT */
/*
 * cellrun.h: a cell in its own process: set up, resume, train, evaluate, write the result.
 */
#ifndef CELL_CELLRUN_H
#define CELL_CELLRUN_H

#include <stdint.h>

#include "process/trail.h"

struct cellrun_options {
    int threads;
    const char *gemm; /* run.gemm's word */
    int64_t checkpoint_every;
    bool tensorboard;
    bool allow_drift;    /* goes on with a checkpoint of other kernels or libraries, and marks it */
    struct trail *trail; /* for the parent, if there is one: see process/trail.h */
    bool has_parent;     /* which sends SIGKILL when one SIGTERM is not enough */
};

enum cellrun_end { CELLRUN_DONE, CELLRUN_DIVERGED, CELLRUN_INTERRUPTED };

/* dir is the cell's directory, with config.json. Takes the cell's lock; a stop (base/stops.h)
 * finishes the step, saves a checkpoint and gives CELLRUN_INTERRUPTED; without a parent a second
 * one ends the process. Log lines go to stderr. A finished cell that lacks an evaluation is
 * evaluated from its final weights. */
peat_status cell_run(const char *dir, const struct cellrun_options *options, enum cellrun_end *end,
                     struct error *err);

#endif
