/* SPDX-License-Identifier: MIT */
/*
 * cellend.h: what became of a cell's process, as its parent sees it.
 *
 *   a new result.json          done, diverged, however the process ended after it
 *   exit 0 and an older one    done, diverged
 *   exit 130                   partial: stopped, with a checkpoint
 *   any other exit             failed, with the last "peat: " line of its log
 *   a signal                   crashed; SIGKILL that nobody here sent: oom
 *   stopped for its time       timeout
 *
 * A cell that ran out of disk is partial: it goes on when there is room again.
 */
#ifndef EXPERIMENT_CELLEND_H
#define EXPERIMENT_CELLEND_H

#include <sys/types.h>

#include "experiment/rundir.h"

/* Why its parent has sent it a signal. */
enum cell_stop { STOP_NONE, STOP_ASKED, STOP_TIMEOUT };

struct cell_end {
    enum cell_state state; /* DONE, DIVERGED, PARTIAL, FAILED, CRASHED, TIMEOUT, OOM */
    const char *reason;    /* NULL: there is a result                               */
    const char *signal;    /* "SIGSEGV", or NULL                                    */
    int exit;              /* -1: ended by a signal                                 */
    bool disk_full;
    struct value *result; /* NULL: none */
};

/* What the parent knows of the process. */
struct cell_process {
    const char *dir; /* the cell's */
    bool had_result; /* when it was started */
    off_t log_at;    /* where its log began */
    enum cell_stop stop;
    double timeout;
};

/* wait_status is waitpid's. */
struct cell_end cell_end_read(const struct cell_process *p, int wait_status, struct arena *a);
/* A cell that could not be started or that ended without a process of its own. */
struct cell_end cell_end_failed(const char *reason, struct arena *a);
/* Writes end.json when there is no result. */
peat_status cell_end_write(const struct cell_end *end, const char *dir, struct arena *a,
                           struct error *err);
/* Removes what an earlier attempt left: end.json, running.json. */
void cell_end_forget(const char *dir);

/* The last line of the log that starts with `prefix` ("": the last that is not empty), from byte
 * `from` on and without the prefix; NULL when there is none. */
const char *log_last_line(const char *dir, off_t from, const char *prefix, struct arena *a);

#endif
