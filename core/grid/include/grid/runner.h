/* SPDX-License-Identifier: MIT */
/*
 * runner.h: the parent of a grid: starts cell processes, watches them, reports to the user.
 *
 * The parent never runs a step: each cell is `peat cell DIR ID` in a process of its own, with its
 * environment set before exec, and ends when the parent dies. A stop is passed on: cells finish
 * their step, save, and the run ends with 130; a second one kills.
 */
#pragma once

#include "grid/jobs.h"

struct runner_options {
    int64_t jobs, threads; /* 0: auto */
    const char *gemm;
    double timeout;     /* seconds for each cell; 0: no limit */
    double no_progress; /* seconds without progress for each cell; 0: no limit */
    bool stop_on_failure;
    bool retry_failed, rerun_stale, allow_drift;
    const bool *wanted;               /* [plan's cells] true for cells to be run; NULL: all */
    const char *only;                 /* glob on the label or id; NULL: all */
    int64_t shard_index, shard_count; /* 1-based; count 0: all */
    bool quiet;
    /* Runs the chosen cells, at least one, elsewhere. NULL: they are run here. */
    peat_status (*launch)(void *ctx, const struct jobs *jobs, struct error *err);
    void *launch_ctx;
    bool dry; /* with `launch`: only reads the directory, if there is one */
};

/* Counts of the cells that the call was about; each cell is in exactly one. */
struct runner_end {
    int done, diverged; /* ended in this call                                      */
    int failed;         /* failed in this call, or before and was not tried again  */
    int left;           /* interrupted, not started, or run by another process     */
    int skipped;        /* finished before                                         */
    int stale;          /* stale, and not run again                                */
    int launched;       /* handed to `launch`                                      */
    int waiting;        /* waiting for best_over to choose a value for their row   */
    bool interrupted;
};

/* Refuses a pattern `only` that matches no cell. */
peat_status runner_check(const struct plan *p, const struct runner_options *o, struct error *err);
/* Marks in `chosen`, by the plan's cells, those that the call is about: they match `only` and are
 * in the shard. Returns the number that match `only`, in the shard or not. Cells that share a trunk
 * are in one shard. */
int runner_chosen(const struct plan *p, const struct runner_options *o, bool *chosen);
/* Unless dry, rundir_write has written dir with this plan, and this process holds its lock.
 * `program` is the path of peat. Returns an error only when nothing was run. */
peat_status runner_run(const char *dir, const struct plan *p, const struct runner_options *o,
                       const char *program, struct runner_end *end, struct error *err);
