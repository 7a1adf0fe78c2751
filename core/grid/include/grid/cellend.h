/* SPDX-License-Identifier: MIT */
/*
 * cellend.h: how a cell's process ended, as its parent sees it.
 *
 *   a new result.json          done, diverged, however the process ended after it
 *   exit 0 and an older one    done, diverged
 *   exit while a plugin runs   crashed: the plugin has ended the process
 *   exit 130                   partial: stopped, with a checkpoint
 *   any other exit             failed, with what the cell said or the last "peat: " line of its
 *                              log; oom when it said that it was out of memory
 *   a signal                   crashed; SIGKILL that nobody here sent: oom
 *   stopped for a limit        timeout
 *   failed, and others run it  running
 *
 * A cell that ran out of disk space is partial: it continues when there is space again.
 */
#pragma once

#include "grid/rundir.h"
#include "process/child.h"

/* Why the parent sent the cell a signal. */
enum cell_stop { STOP_NONE, STOP_ASKED, STOP_TIMEOUT, STOP_STALLED };

struct cell_end {
    enum cell_state state; /* DONE, DIVERGED, PARTIAL, FAILED, CRASHED, TIMEOUT, OOM, RUNNING */
    const char *reason;    /* NULL: the cell has a result                           */
    const char *signal;    /* "SIGSEGV", or NULL                                    */
    const char *hook;      /* the plugin's function that was running, "rotary.qkv"; or NULL */
    int exit;              /* -1: ended by a signal                                 */
    const char *no_room;   /* why a file could not be written, "the disk is full: make room"; or
                            * NULL */
    struct value *result;  /* NULL: no result */
};

/* The cell's process as its parent knows it. */
struct cell_process {
    const char *dir; /* the cell's directory */
    bool had_result; /* it had a result when it was started */
    off_t log_at;    /* length of its log when it was started */
    enum cell_stop stop;
    double timeout, no_progress;
    char where[TRAIL_TEXT]; /* the function that was running when it was stopped */
    int64_t step;
};

/* Describes the end of a child that has ended. */
struct cell_end cell_end_read(const struct cell_process *p, const struct child *child,
                              struct arena *a);
/* The end of a cell that could not be started, or that failed outside a process of its own. */
struct cell_end cell_end_failed(const struct error *why, struct arena *a);
/* A cell that another process runs, here or elsewhere: RUNNING. */
struct cell_end cell_end_elsewhere(const char *dir, struct arena *a);
/* True when a process other than `pid` of this host runs the cell. */
bool cell_runs_elsewhere(const char *dir, pid_t pid, struct arena *a);
/* Writes end.json unless there is a result or another process that will write one. */
peat_status cell_end_write(const struct cell_end *end, const char *dir, struct arena *a,
                           struct error *err);
/* Removes the files of an earlier attempt: end.json, running.json. */
void cell_end_forget(const char *dir);
