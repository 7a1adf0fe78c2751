/* SPDX-License-Identifier: MIT */
/*
 * state.h: the state of a process that a plugin could change, and a guard that notices it.
 *
 * A guard compares rounding, locale, directory, signals, open files and child processes after
 * plugin code has run: a difference ends the work with the name of the plugin, before anything is
 * written. A look costs a few microseconds. `peat plugins check` looks for more.
 */
#pragma once

#include "base/base.h"

enum { STATE_SIGNALS = 65, STATE_FILES = 16 };

struct state {
    uint32_t rounding; /* mode, traps and treatment of denormals */
    char locale[256], directory[4096];
    void (*handler[STATE_SIGNALS])(int); /* a guard compares those of the usual signals */
    sigset_t blocked;
    bool has_child; /* a child process is left, whoever started it */
    int n_file;     /* the open files with the lowest numbers */
    struct {
        int fd;
        dev_t device;
        ino_t inode;
    } file[STATE_FILES];
    /* Only state_read sets the fields from here on. */
    mode_t umask;
    int descriptors, threads;
    int openmp; /* number of different OpenMP runtimes in memory */
    uint64_t environment;
};

void state_read(struct state *s);
/* Adds the differences in words, "changed the locale from 'C' to 'C.UTF-8'; left a child process";
 * adds nothing when the states are equal. */
void state_compare(const struct state *before, const struct state *after, struct strbuf *out);

struct guard {
    pid_t pid;
    struct state was;
    char where[96], what[512]; /* the first look that found a difference, and the difference;
                                * where "": no difference */
};

/* Records the present state as the right one. Call again after the engine has opened files. */
void guard_start(struct guard *g);
/* Looks for a difference and keeps the first one and `where` it was found. Ends a copy of the
 * process that a plugin has forked, so that only one process writes. */
void guard_look(struct guard *g, const char *where);
/* The difference found, if any, as PEAT_FAILED, "where changed the locale from ...". Restores
 * rounding and directory, so that the end of the work is written to the right place. */
peat_status guard_verdict(struct guard *g, struct error *err);

/* Bytes allocated now, for state_memory_kept. 0 under AddressSanitizer. */
size_t state_memory(void);
/* The bytes allocated in excess of `before`, or 0. Under AddressSanitizer: not 0 where memory has
 * leaked. */
size_t state_memory_kept(size_t before);
