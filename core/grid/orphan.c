/* SPDX-License-Identifier: MIT */
/* orphan.c: ends cells whose parent has died. */
#include "grid/jobs.h"

#include <time.h>

enum owner { OWNER_GONE, OWNER_PARENT, OWNER_OTHER };

/* The content of a file of the process, to be freed; NULL: the process is gone. */
static char *read_proc(int64_t pid, const char *name, size_t *n)
{
    char path[64], *text = NULL;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/%s", pid, name);
    return file_read(path, 0, &text, n, NULL) == PEAT_OK ? text : NULL;
}

static pid_t parent_of(int64_t pid)
{
    size_t n;
    int parent = 0;
    char *line = read_proc(pid, "stat", &n);
    const char *name_end = line ? strrchr(line, ')') : NULL;
    if (!name_end || sscanf(name_end, ") %*c %d", &parent) != 1)
        parent = 0;
    free(line);
    return parent;
}

/* Process numbers are used again, so the process must be a `peat cell` of this cell whose parent
 * has died. If the parent lives, a batch system or a person started it. A process that is just
 * ending has no command line. */
static enum owner owner_of(int64_t pid, const char *id)
{
    size_t n = 0;
    bool cell = false, parent = false;
    char *line = read_proc(pid, "cmdline", &n);
    if (!line)
        return OWNER_GONE;
    for (const char *word = line; word < line + n; word += strlen(word) + 1) {
        cell = cell || !strcmp(word, id);
        bool names_parent = !strcmp(word, "--with-parent");
        const char *number = word + strlen(word) + 1;
        if (names_parent && number < line + n)
            parent = strtol(number, NULL, 10) != parent_of(pid);
    }
    free(line);
    if (n == 0)
        return OWNER_GONE;
    return cell && parent ? OWNER_PARENT : OWNER_OTHER;
}

/* Checks are counted instead of seconds, so that a pause of the machine is one check. */
static bool wait_unlocked(const char *dir, double seconds)
{
    enum { LOOKS_PER_SECOND = 50 };
    const struct timespec pause = {0, 1000 * 1000 * 1000 / LOOKS_PER_SECOND};
    for (int looks = 0; lock_is_held(dir); looks++) {
        if (looks >= seconds * LOOKS_PER_SECOND)
            return false;
        nanosleep(&pause, NULL);
    }
    return true;
}

/* A cell that a parent started leads its own group, with all processes that its plugins started. */
static void signal_cell(pid_t pid, int signal)
{
    kill(getpgid(pid) == pid ? -pid : pid, signal);
}

/* An orphan ends by itself when its parent dies. The signal is for one that did not notice. */
static peat_status end_process(const struct cell_files *c, pid_t pid, double grace,
                               struct error *err)
{
    const double after_kill = 60;
    signal_cell(pid, SIGTERM);
    if (wait_unlocked(c->dir, grace))
        return PEAT_OK;
    if (owner_of(pid, c->id) == OWNER_PARENT)
        signal_cell(pid, SIGKILL);
    if (wait_unlocked(c->dir, after_kill))
        return PEAT_OK;
    return error_set(err, PEAT_FAILED, "cell '%s' is still held by process %ld, which does not end",
                     c->label, (long)pid);
}

peat_status orphan_end(const struct cell_files *c, double grace, const char **who, struct arena *a,
                       struct error *err)
{
    const double while_ending = 60;
    const char *host;
    int64_t pid;
    bool known = process_read(c->dir, "running.json", a, &pid, &host);
    *who = NULL;
    if (!lock_is_held(c->dir))
        return PEAT_OK;
    enum owner owner = host_is_this(host) && pid > 1 ? owner_of(pid, c->id) : OWNER_OTHER;
    if (owner == OWNER_PARENT)
        return end_process(c, (pid_t)pid, grace, err);
    bool may_be_ending = !known || owner == OWNER_GONE;
    if (!may_be_ending || !wait_unlocked(c->dir, while_ending))
        *who = arena_printf(a, "process %" PRId64 " on host %.80s", pid, host ? host : "unknown");
    return PEAT_OK;
}
