/* SPDX-License-Identifier: MIT */
/*
 * jobs.h: runs cells in processes of their own, a few at a time, in the order given. A cell waits
 * while another one trains steps that both share (cell/trunk.h); later cells may start before it.
 *
 * The loop waits for signals, and looks at its cells now and then: SIGCHLD ends a cell, the first
 * stop (base/stops.h) asks all cells to save and end and starts no more, the second kills them.
 * SIGHUP does not count as a second stop, because the end of a session may send it after SIGTERM.
 * Signals are blocked and waited for, without a handler, so the caller must not have other threads.
 */
#pragma once

#include "grid/cellend.h"
#include "grid/progress.h"

struct job {
    const char *id, *label, *dir;
    int64_t steps;   /* steps of its training; 0: not known   */
    int64_t seq_len; /* the length whose measure is shown      */
    double weight;   /* its share of the work                 */
    double training; /* the part of its own work that is training; evaluations are the rest */
    int64_t eval_every;
    double begun;              /* the fraction that was done before     */
    const struct value *trunk; /* describes the steps that it shares (cell/trunk.h); NULL: it
                                * shares none */
    /* filled by jobs_run */
    struct child child;
    double seconds;
    double idle; /* seconds without a beat of its trail */
    uint64_t beats;
    struct cell_process process;
    struct cell_end end;
    bool taken, ended, told; /* taken: started here, or run elsewhere; told: the notice of its
                              * trail was printed */
};

struct jobs {
    const char *dir, *program; /* the run directory; the path of `peat` */
    int n;
    struct job *job;
    int first; /* the first job that has not been started */
    int64_t at_once, threads, checkpoint_every;
    const char *gemm;            /* the word in run.gemm */
    int engine, device;          /* enum run_engine, enum device */
    double timeout, no_progress; /* limits of a cell: seconds in all, and seconds without
                                  * progress; 0: no limit */
    double grace;                /* seconds from SIGTERM to SIGKILL */
    bool tensorboard, allow_drift, stop_on_failure;
    struct progress *progress;
    struct arena *arena;
    /* filled by jobs_run */
    int done, diverged, failed, left; /* left: not started, or to be continued */
    bool interrupted;
    const char *no_room; /* why a cell could not write; see struct cell_end */
};

void jobs_run(struct jobs *j);

/* ---- orphan.c: cell processes whose parent has died ---- */
/* Orphans end by themselves, but perhaps later. The caller holds the lock of the run directory, so
 * every running cell that a parent started is an orphan. Cells that somebody runs with `peat cell`,
 * here or elsewhere, are not. */

/* Ends a running cell that is an orphan, after `grace` seconds to save its state. *who: NULL where
 * the cell has ended, otherwise the process that runs it: "process 12 on host h". */
peat_status orphan_end(const struct cell_files *c, double grace, const char **who, struct arena *a,
                       struct error *err);
