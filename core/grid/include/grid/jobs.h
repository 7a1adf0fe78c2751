/* SPDX-License-Identifier: MIT */
/*
 * jobs.h: cells run by processes of their own, a few at a time, in the order given. A cell waits
 * while another one trains steps that both share (cell/trunk.h), and later ones go before it.
 *
 * The loop waits for signals, and looks at its cells now and then: SIGCHLD ends a cell, the first
 * stop (base/stops.h) asks all cells to save and end and starts no more, the second kills them.
 * SIGHUP does not count as a second one: who ends a session may send it after SIGTERM. Signals are
 * blocked and waited for, so there is no handler. The caller has no other threads that would take
 * them.
 */
#pragma once

#include "grid/cellend.h"
#include "grid/progress.h"
#include "grid/rundir.h"

struct job {
    const char *id, *label, *dir;
    int64_t steps;   /* of its training; 0: not known         */
    int64_t seq_len; /* the length whose measure is shown      */
    double weight;   /* its share of the work                 */
    double training; /* the part of its own work that steps are; evaluations are the rest */
    int64_t eval_every;
    double begun;              /* the fraction that was done before     */
    const struct value *trunk; /* of the steps that it shares (cell/trunk.h); NULL: none */
    /* filled by jobs_run */
    struct child child;
    double seconds;
    double idle; /* without a beat */
    uint64_t beats;
    struct cell_process process;
    struct cell_end end;
    bool taken, ended, told; /* taken: it was started, or is run elsewhere; told: the notice of its
                                trail was printed */
};

struct jobs {
    const char *dir, *program; /* the run directory; `peat` */
    int n;
    struct job *job;
    int first; /* the first to be run: those before it have been */
    int64_t at_once, threads, checkpoint_every;
    const char *gemm;            /* run.gemm's word */
    double timeout, no_progress; /* seconds of a cell, and of one that stands still; 0: no limit */
    double grace;                /* seconds from SIGTERM to SIGKILL */
    bool tensorboard, allow_drift, stop_on_failure;
    struct progress *progress;
    struct arena *arena;
    /* filled by jobs_run */
    int done, diverged, failed, left; /* left: not started, or to be gone on with */
    bool interrupted;
    const char *no_room; /* of a cell's end */
};

void jobs_run(struct jobs *j);

/* ---- orphan.c: cell processes whose parent has died ---- */
/*
 * They end by themselves, but perhaps not yet. Called by who holds the lock of the run directory,
 * so every cell that was started by a parent is an orphan. Cells that somebody runs by `peat cell`
 * alone, here or elsewhere, are not.
 */

/* Ends a running cell that is an orphan, which has `grace` seconds to save its state: *ended.
 * Otherwise `who` names the process that runs it: "process 12 on host h". */
peat_status orphan_end(const struct cell_files *c, double grace, bool *ended, char who[128],
                       struct error *err);
