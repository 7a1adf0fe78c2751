/* SPDX-License-Identifier: MIT */
/*
 * runner.h: the parent of a grid: starts cell processes, watches them, reports to the user.
 *
 * The parent never runs a step: each cell is `peat cell DIR ID` started by spawn with its
 * environment set before exec, in its own process, ended when the parent dies. A stop is
 * passed on: cells finish their step, save, and the run ends with 130; a second one kills.
 */
#pragma once

#include "grid/jobs.h"

struct runner_options {
    int64_t jobs, threads; /* 0: auto */
    const char *gemm;
    double timeout;     /* seconds per cell; 0: none */
    double no_progress; /* the same, of a cell that stands still */
    bool stop_on_failure;
    bool retry_failed, rerun_stale, allow_drift;
    const bool *wanted;               /* by the plan's cells: these alone; NULL: all */
    const char *only;                 /* glob on the label or id; NULL: all */
    int64_t shard_index, shard_count; /* 1-based; count 0: all */
    bool quiet;
    /* Takes the chosen cells, at least one, instead of their being run here. NULL: none does. */
    peat_status (*launch)(void *ctx, const struct jobs *jobs, struct error *err);
    void *launch_ctx;
    bool dry; /* with launch: reads the directory if there is one, and changes nothing */
};

/* Each cell the call was about is in exactly one of the counts. */
struct runner_end {
    int done, diverged; /* ended in this call                                      */
    int failed;         /* in this call, or before and not tried again             */
    int left;           /* interrupted, not started, or run by somebody else       */
    int skipped;        /* finished before                                         */
    int stale;          /* left as they are                                        */
    int launched;       /* given to `launch`                                       */
    int waiting;        /* for best_over to choose a value for their row           */
    bool interrupted;
};

/* Refuses an `only` that no cell fits. */
peat_status runner_check(const struct plan *p, const struct runner_options *o, struct error *err);
/* The cells that the call is about, by `only` and the shard; chosen: of the plan's cells. Returns
 * how many fit `only`, in the shard or not. Cells that share a trunk are in one shard. */
int runner_chosen(const struct plan *p, const struct runner_options *o, bool *chosen);
/* Unless dry, dir was written by rundir_write with this plan, and this process holds its lock.
 * `program` is the path of peat. An error only when nothing was run. */
peat_status runner_run(const char *dir, const struct plan *p, const struct runner_options *o,
                       const char *program, struct runner_end *end, struct error *err);
