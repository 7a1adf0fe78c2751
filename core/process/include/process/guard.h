/* SPDX-License-Identifier: MIT */
/*
 * guard.h: notices when a plugin changes the process that the engine relies on.
 *
 * Rounding, locale, directory, signals, open files and child processes are looked at after plugin
 * code has run: a difference ends the work with the name of who made it, before anything is
 * written. A look costs a few microseconds. A copy of the process that a plugin has forked ends at
 * its first look: there must be one that writes.
 */
#ifndef PROCESS_GUARD_H
#define PROCESS_GUARD_H

#include "base/error.h"
#include "process/state.h"

enum { GUARD_FILES = 16 };

struct guard {
    pid_t pid;
    struct state was;
    bool had_child;
    int n_file;
    struct {
        int fd;
        dev_t device;
        ino_t inode;
    } file[GUARD_FILES];
    char where[96], what[96]; /* the first difference; where "": none */
};

/* Records the process as it should be. Again after the engine itself has opened files. */
void guard_start(struct guard *g);
/* Keeps the first difference: `where`, and "changed the locale". */
void guard_look(struct guard *g, const char *where);
/* The difference found, if any, as PEAT_FAILED, "where changed the locale". Puts back what can be,
 * so that the end can be written where it belongs. */
peat_status guard_verdict(struct guard *g, struct error *err);

#endif
