/* SPDX-License-Identifier: MIT */
/*
 * cellrun.h: a cell in its own process: set up, resume, train, evaluate, write the result.
 */
#pragma once

#include "process/trail.h"

struct cellrun_options {
    int threads;
    const char *gemm; /* run.gemm's word */
    int64_t checkpoint_every;
    bool tensorboard;
    const char *trained; /* a file of a training by another program, which is evaluated and becomes
                            the cell's (docs/checkpoint.md, "Trained elsewhere"); NULL: none */
    bool allow_drift;    /* goes on with a checkpoint of other kernels or libraries, and marks it */
    int64_t measure;     /* train some steps, time this many and an evaluation; 0: do not */
    struct trail *trail; /* for the parent, if there is one: see process/trail.h */
    bool has_parent;     /* which sends SIGKILL when one SIGTERM is not enough */
};

/* With `measure` nothing is kept but this file in the cell's directory: {"start_s", "step_s",
 * "evaluation_s", "test_s"}: seconds of the processor that the set-up, a step, an evaluation of all
 * lengths and the test part take. */
#define MEASURED_FILE "measured.json"

enum cellrun_end { CELLRUN_DONE, CELLRUN_DIVERGED, CELLRUN_INTERRUPTED };

/* dir is the cell's directory, with config.json. Takes the cell's lock; a stop (base/stops.h)
 * finishes the step, saves a checkpoint and gives CELLRUN_INTERRUPTED; without a parent a second
 * one ends the process. Log lines go to stderr. A finished cell that lacks an evaluation is
 * evaluated from its final weights. */
peat_status cell_run(const char *dir, const struct cellrun_options *options, enum cellrun_end *end,
                     struct error *err);
