/* SPDX-License-Identifier: MIT */
/*
 * child.h: starts processes, waits for them, ends them, and reports how they ended.
 *
 * All processes are started here: cells, checks of plugins, Python and Slurm's programs as
 * programs, plugin code as forks (process/apart.h).
 */
#pragma once

#include "process/trail.h"

/* The descriptor under which a program finds its trail. */
enum { CHILD_TRAIL = 3 };

struct child {
    /* Set before the start; all but argv may be left 0. */
    char *const *argv; /* ends in NULL; argv[0] is searched in PATH unless it has a slash */
    char *const *env;  /* ends in NULL; NULL: this process's environment */
    const char *dir;   /* its current directory; NULL: this process's */
    const char *log;   /* file to which both outputs are appended, made when absent; NULL: out,
                        * err */
    int out, err;      /* descriptors of its outputs; 0: this process's */
    /* It leads a group of its own: a terminal's Ctrl-C does not reach it, and the processes that it
     * starts end with it. */
    bool own_group;
    bool has_trail;
    double grace; /* seconds from SIGTERM to SIGKILL */
    /* Set at its start. */
    pid_t pid;
    struct trail_page *trail; /* NULL: no trail, or the system gives no page */
    double started, deadline; /* time of the clock; deadline of the next signal, 0: no deadline */
    double looked;            /* when child_is_due was asked last */
    bool late;                /* child_end has asked it to end */
    /* Set at its end. */
    bool ended;
    int code;   /* -1: ended by a signal */
    int signal; /* 0: not ended by a signal */
};

/* Standard input is empty. Signals are as in a fresh process, except that an ignored SIGHUP stays
 * ignored. PEAT_NOTFOUND: no program has that name. */
peat_status child_start(struct child *c, struct error *err);
/* Makes a copy of this process, in its own group and with a trail. The copy ends with this
 * process, and signals end it as a fresh process. Like fork, it returns in both: in the
 * child, c->pid is 0. */
peat_status child_fork(struct child *c, struct error *err);
/* Starts the child, waits for its end (a stop ends it, and then this process), and adds its output
 * to `out` and `said`, or all of it to `out` when `said` is NULL. */
peat_status child_run(struct child *c, struct strbuf *out, struct strbuf *said, struct error *err);

/* Sends the signal to the child's whole group if it has one. */
void child_signal(const struct child *c, int signal);
/* Sends SIGTERM and sets the deadline, at which SIGKILL follows, to the end of the grace. Wakes a
 * stopped process. */
void child_end(struct child *c);
/* True when the deadline has passed. The grace goes on after a pause of the machine, in which
 * nobody asks; so ask every second. */
bool child_is_due(struct child *c);
/* Kills at once and clears the deadline. */
void child_kill(struct child *c);
/* True once the child and its group have ended: code and signal then tell how. */
bool child_has_ended(struct child *c);
/* Waits until the child has ended. Ends it at its deadline, or when a stop waits that the caller
 * holds (base/stops.h). */
void child_wait(struct child *c);
/* Processor seconds that it has used; 0 once it has ended. */
double child_cpu(const struct child *c);
enum { CHILD_DOING = 96 };
/* Its state in the kernel's words: "sleeping in futex_wait_queue", "running". */
void child_doing(const struct child *c, char text[CHILD_DOING]);
/* True where this process has a child that was not waited for, whoever started it. */
bool child_is_left(void);
/* Releases the child's trail. */
void child_release(struct child *c);

enum { SIGNAL_NAME = 32 };
/* "SIGSEGV", or "signal 40" */
const char *signal_name(int signal, char name[SIGNAL_NAME]);
/* True for signals that others send to end a process; the process itself is not at fault. */
bool signal_is_sent(int signal);

/* The last line that starts with `prefix` ("": the last that is not empty), from byte `from` on,
 * without the prefix; NULL when there is no such line near the log's end. */
const char *log_last_line(const char *path, off_t from, const char *prefix, struct arena *a);
/* The first line of a sanitizer's report, from byte `from` on; NULL: no report. */
const char *log_sanitizer_line(const char *path, off_t from, struct arena *a);

/* The path of the running program. */
peat_status own_program(char *path, size_t n, struct error *err);
/* This process's environment with the variables for a cell of `threads` threads. They must be set
 * before exec, because libraries read them while they are loaded. */
char **cell_environment(struct arena *a, int64_t threads);
