/* SPDX-License-Identifier: MIT */
/* cellrun.h: a cell in its own process: set up, resume, train, evaluate, write the result. */
#pragma once

#include "cell/engine.h"

struct cellrun_options {
    int threads;
    const char *gemm;   /* run.gemm's word */
    int engine, device; /* enum run_engine and enum device */
    int64_t checkpoint_every;
    bool tensorboard;
    const char *trained; /* a file of weights that another program trained, which is evaluated
                          * and becomes the cell's (docs/checkpoint.md, "Trained elsewhere");
                          * NULL: no such file */
    bool allow_drift;    /* continue a checkpoint of other kernels or libraries, and mark the
                          * result */
    int64_t measure;     /* time so many steps and an evaluation; 0: train the cell */
    struct trail *trail; /* read by the parent process, if any: see process/trail.h */
    bool has_parent;     /* the parent sends SIGKILL when one SIGTERM is not enough */
};

/* With `measure` only this file is written, in the cell's directory: {"start_s", "step_s",
 * "evaluation_s", "test_s"}: the processor seconds of the set-up, a step, an evaluation of all
 * lengths and the test part. */
#define MEASURED_FILE "measured.json"

enum cellrun_end { CELLRUN_DONE, CELLRUN_DIVERGED, CELLRUN_INTERRUPTED };

/* dir is the cell's directory, with config.json. Holds the cell's lock while it runs. A stop
 * (base/stops.h) finishes the step, saves a checkpoint and gives CELLRUN_INTERRUPTED; without a
 * parent a second stop ends the process. Log lines go to stderr. A finished cell that lacks an
 * evaluation is evaluated with its final weights. */
peat_status cell_run(const char *dir, const struct cellrun_options *options, enum cellrun_end *end,
                     struct error *err);
