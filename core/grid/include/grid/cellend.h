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
 * A cell that ran out of disk is partial: it goes on when there is room again.
 */
#pragma once

#include "grid/rundir.h"
#include "process/child.h"

/* Why its parent has sent it a signal. */
enum cell_stop { STOP_NONE, STOP_ASKED, STOP_TIMEOUT, STOP_STALLED };

struct cell_end {
    enum cell_state state; /* DONE, DIVERGED, PARTIAL, FAILED, CRASHED, TIMEOUT, OOM, RUNNING */
    const char *reason;    /* NULL: there is a result                               */
    const char *signal;    /* "SIGSEGV", or NULL                                    */
    const char *hook;      /* "rotary.qkv": the plugin's function that ran; or NULL  */
    int exit;              /* -1: ended by a signal                                 */
    const char *no_room;   /* what could not be written, "the disk is full: make room"; or NULL */
    struct value *result;  /* NULL: none */
};

/* The process as its parent sees it. */
struct cell_process {
    const char *dir; /* the cell's */
    bool had_result; /* when it was started */
    off_t log_at;    /* where its log began */
    enum cell_stop stop;
    double timeout, no_progress;
    char where[TRAIL_TEXT]; /* when it was stopped */
    int64_t step;
};

/* The end of a child that has ended. */
struct cell_end cell_end_read(const struct cell_process *p, const struct child *child,
                              struct arena *a);
/* A cell that could not be started or that ended without a process of its own. */
struct cell_end cell_end_failed(const struct error *why, struct arena *a);
/* A cell that another process runs, here or elsewhere: RUNNING. */
struct cell_end cell_end_elsewhere(const char *dir, struct arena *a);
/* True when a process other than `pid` of this host runs the cell. */
bool cell_runs_elsewhere(const char *dir, pid_t pid);
/* Writes end.json when there is no result and no other process that will write one. */
peat_status cell_end_write(const struct cell_end *end, const char *dir, struct arena *a,
                           struct error *err);
/* Removes what an earlier attempt left: end.json, running.json. */
void cell_end_forget(const char *dir);
