/* SPDX-License-Identifier: MIT */
/* own_dir.c: makes a directory in TMPDIR, and removes those that dead processes left there. */

#include "base/base.h"
#include <sys/file.h>

#define LOCK ".lock"

static const char *place(void)
{
    const char *tmp = getenv("TMPDIR");
    return tmp && *tmp ? tmp : "/tmp";
}

char *own_dir_pattern(const char *kind)
{
    struct strbuf path = STRBUF_NEW;
    strbuf_addf(&path, "%s/peat-%s-XXXXXX", place(), kind);
    return strbuf_detach(&path);
}

static bool own_dir_fits(const char *pattern, const char *name)
{
    size_t n = strlen(pattern), random = strlen("XXXXXX");
    return strlen(name) == n && strncmp(name, pattern, n - random) == 0;
}

/* A new directory may not be locked yet. */
static bool is_old_and_mine(const char *path)
{
    const double newest = 60;
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
           clock_wall() - (double)st.st_mtime > newest;
}

/* *fd: the open lock, whether it is held or not; -1: it cannot be opened. */
static bool lock(const char *path, int *fd)
{
    file_open(path_in(path, LOCK).text, O_RDWR | O_CREAT, FILE_OWN, fd, NULL);
    return *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) == 0;
}

static void remove_unlocked(const char *path)
{
    int fd;
    if (lock(path, &fd))
        dir_remove(path, NULL);
    if (fd >= 0)
        close(fd);
}

static void remove_left(const char *pattern)
{
    char **name;
    int n;
    dir_list(place(), &name, &n, NULL);
    for (int i = 0; i < n; i++) {
        const struct file_path path = path_in(place(), name[i]);
        if (own_dir_fits(strrchr(pattern, '/') + 1, name[i]) && is_old_and_mine(path.text))
            remove_unlocked(path.text);
    }
    names_free(name, n);
}

peat_status own_dir_open(struct own_dir *d, const char *kind, struct error *err)
{
    *d = (struct own_dir){own_dir_pattern(kind), -1};
    remove_left(d->path);
    if (!mkdtemp(d->path)) {
        peat_status status = error_set(err, PEAT_IO, "cannot make a directory like '%s': %s",
                                       d->path, strerror(errno));
        free(d->path);
        d->path = NULL;
        return status;
    }
    lock(d->path, &d->lock);
    return PEAT_OK;
}

void own_dir_close(struct own_dir *d)
{
    if (d->path)
        dir_remove(d->path, NULL);
    if (d->lock >= 0)
        close(d->lock);
    free(d->path);
    *d = (struct own_dir){NULL, -1};
}
