/* SPDX-License-Identifier: MIT */
/*
 * child.h: a process that this one starts, waits for, ends, and asks how it ended.
 *
 * All processes are started here: cells, checks of plugins, gnuplot and Slurm's programs as
 * programs of their own, questions to plugins as forks (process/apart.h).
 */
#pragma once

#include "process/trail.h"

/* The descriptor under which a program finds its trail. */
enum { CHILD_TRAIL = 3 };

struct child {
    /* What to start; all but argv may be left 0. */
    char *const *argv; /* ends in NULL; argv[0] is looked for in PATH unless it has a slash */
    char *const *env;  /* ends in NULL; NULL: this process's */
    const char *dir;   /* its current directory; NULL: this process's */
    const char *log;   /* both outputs are appended to it, it is made when absent; NULL: out, err */
    int out, err;      /* descriptors of its outputs; 0: this process's */
    /* It leads a group of its own: a terminal's Ctrl-C does not reach it, and the processes that it
     * starts end with it. */
    bool own_group;
    bool has_trail;
    double grace; /* seconds from SIGTERM to SIGKILL */
    /* Since its start. */
    pid_t pid;
    struct trail_page *trail; /* NULL: none, or the system gives none */
    double started, deadline; /* of the clock; deadline, for the next signal, 0: none */
    bool late;                /* has been asked to end by child_end */
    /* At its end. */
    bool ended;
    int code;   /* -1: ended by a signal */
    int signal; /* 0: none */
};

/* Standard input is empty, and signals are as in a fresh process, but that an ignored SIGHUP stays
 * ignored. PEAT_NOTFOUND: no program has that name. */
peat_status child_start(struct child *c, struct error *err);
/* A copy of this process, in its own group, with a trail, that ends with this process and dies of
 * signals as a fresh one. Like fork, it returns in both: in the child, c->pid is 0. */
peat_status child_fork(struct child *c, struct error *err);
/* Starts it, waits for its end (a stop ends it, and then this process), and adds its output to
 * `out` and `said`; when `said` is NULL, all of it to `out`. */
peat_status child_run(struct child *c, struct strbuf *out, struct strbuf *said, struct error *err);

/* To its whole group if it has one. */
void child_signal(const struct child *c, int signal);
/* SIGTERM, and SIGKILL when the grace is over: the deadline is set to then. A stopped process is
 * woken. */
void child_end(struct child *c);
/* The deadline has passed. */
bool child_is_due(const struct child *c);
/* At once, with no deadline after it. */
void child_kill(struct child *c);
/* True once it has ended, and its group with it: code and signal tell how. */
bool child_has_ended(struct child *c);
/* Until it has ended; it is ended at its deadline, or when a stop waits that the caller holds
 * (base/stops.h). */
void child_wait(struct child *c);
/* Seconds of processors that it has used; 0 once it has ended. */
double child_cpu(const struct child *c);
enum { CHILD_DOING = 96 };
/* Its state in words of the kernel: "sleeping in futex_wait_queue", "running". */
void child_doing(const struct child *c, char text[CHILD_DOING]);
/* This process has a child, whoever has started it, that was not waited for. */
bool child_is_left(void);
/* Gives its trail back. */
void child_release(struct child *c);

enum { SIGNAL_NAME = 32 };
/* "SIGSEGV", or "signal 40" */
const char *signal_name(int signal, char name[SIGNAL_NAME]);
/* By others, to end a process: nothing in it went wrong. */
bool signal_is_sent(int signal);
