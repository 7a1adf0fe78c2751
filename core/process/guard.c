/* SPDX-License-Identifier: MIT */
/* guard.c: compares the process with its state at the start. */
#include "process/guard.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/child.h"

static const int watched[] = {SIGINT, SIGTERM, SIGCHLD, SIGPIPE, SIGALRM, SIGSEGV, SIGFPE, SIGABRT};
enum { WATCHED = sizeof(watched) / sizeof(*watched) };

/* ---- as it should be ---- */

static void note_files(struct guard *g)
{
    enum { LOOKED_AT = 64 };
    struct stat st;
    g->n_file = 0;
    for (int fd = 0; fd < LOOKED_AT && g->n_file < GUARD_FILES; fd++) {
        if (fstat(fd, &st) < 0)
            continue;
        g->file[g->n_file].fd = fd;
        g->file[g->n_file].device = st.st_dev;
        g->file[g->n_file++].inode = st.st_ino;
    }
}

void guard_start(struct guard *g)
{
    g->pid = getpid();
    g->had_child = child_is_left();
    state_read_part(&g->was, WATCHED, watched);
    note_files(g);
}

/* ---- as it is ---- */

static void find(struct guard *g, const char *where, const char *what)
{
    if (g->where[0])
        return;
    snprintf(g->where, sizeof(g->where), "%s", where);
    snprintf(g->what, sizeof(g->what), "%s", what);
}

static void look_at_state(struct guard *g, const char *where)
{
    struct state now;
    char text[64];
    state_read_part(&now, WATCHED, watched);
    if (now.rounding != g->was.rounding)
        find(g, where, "changed how numbers are rounded");
    if (strcmp(now.locale, g->was.locale) != 0)
        find(g, where, "changed the locale");
    if (strcmp(now.directory, g->was.directory) != 0)
        find(g, where, "changed the current directory");
    if (!g->had_child && child_is_left())
        find(g, where, "left a child process");
    for (int i = 0; i < WATCHED; i++) {
        if (state_same_signal(&g->was, &now, watched[i]))
            continue;
        snprintf(text, sizeof(text), "changed what SIG%s does", sigabbrev_np(watched[i]));
        find(g, where, text);
    }
}

static void look_at_files(struct guard *g, const char *where)
{
    struct stat st;
    char text[64];
    for (int i = 0; i < g->n_file; i++) {
        if (fstat(g->file[i].fd, &st) == 0 && st.st_dev == g->file[i].device &&
            st.st_ino == g->file[i].inode)
            continue;
        snprintf(text, sizeof(text), "closed file descriptor %d", g->file[i].fd);
        find(g, where, text);
    }
}

void guard_look(struct guard *g, const char *where)
{
    if (getpid() != g->pid)
        _exit(1);
    look_at_state(g, where);
    look_at_files(g, where);
}

peat_status guard_verdict(struct guard *g, struct error *err)
{
    if (!g->where[0])
        return PEAT_OK;
    state_restore_rounding(&g->was);
    if (g->was.directory[0] && chdir(g->was.directory) < 0)
        return error_set(err, PEAT_FAILED, "%s %s, and '%s' cannot be gone back to: %s", g->where,
                         g->what, g->was.directory, strerror(errno));
    return error_set(err, PEAT_FAILED, "%s %s", g->where, g->what);
}
