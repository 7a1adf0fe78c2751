/* SPDX-License-Identifier: MIT */
/*
 * state.h: the state of a process that a plugin could change, and a guard that notices it.
 *
 * A guard compares rounding, locale, directory, signals, open files and child processes after
 * plugin code has run: a difference ends the work with the name of who made it, before anything is
 * written. `peat plugins check` looks for more, but only at plugins that it is given. A look costs
 * a few microseconds.
 */
#pragma once

#include "base/base.h"

enum { STATE_SIGNALS = 65, STATE_FILES = 16 };

struct state {
    uint32_t rounding; /* mode, traps and treatment of denormals */
    char locale[256], directory[4096];
    void (*handler[STATE_SIGNALS])(int); /* a guard reads those of the usual signals */
    sigset_t blocked;
    bool has_child; /* a process that was not waited for, whoever has started it */
    int n_file;     /* open files, those with the lowest numbers */
    struct {
        int fd;
        dev_t device;
        ino_t inode;
    } file[STATE_FILES];
    /* Read by state_read alone. */
    mode_t umask;
    int descriptors, threads;
    int openmp; /* different OpenMP runtimes in memory */
    uint64_t environment;
};

void state_read(struct state *s);
/* Adds what was done to the process, "changed the locale from 'C' to 'C.UTF-8'; left a child
 * process"; nothing when nothing differs. */
void state_compare(const struct state *before, const struct state *after, struct strbuf *out);

struct guard {
    pid_t pid;
    struct state was;
    char where[96], what[512]; /* the first look that found a difference; where "": none */
};

/* Records the process as it should be. Again after the engine itself has opened files. */
void guard_start(struct guard *g);
/* Keeps the first difference, and `where` it was made. Ends a copy of the process that a plugin has
 * forked: there must be one that writes. */
void guard_look(struct guard *g, const char *where);
/* The difference found, if any, as PEAT_FAILED, "where changed the locale from ...". Puts rounding
 * and directory back, so that the end can be written where it belongs. */
peat_status guard_verdict(struct guard *g, struct error *err);

/* Bytes that the process holds of the system's allocator, to be asked about later. */
size_t state_memory(void);
/* How many more it holds now; under a leak sanitizer, whether any are lost. */
size_t state_memory_kept(size_t before);
