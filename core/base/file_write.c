/* SPDX-License-Identifier: MIT */
/* file_write.c: files that are written whole or not at all. */
#include <poll.h>
#include <sys/file.h>
#include <time.h>

#include "file_open.h"

#define TEMPORARY ".tmp-"

/* 0 or -1 with errno. The descriptor may be non-blocking, because the process that gave it to this
 * one chose that. */
static int write_all(int fd, const char *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno == EAGAIN)
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        else if (written < 0 && errno != EINTR)
            return -1;
        if (written > 0) {
            bytes += written;
            n -= (size_t)written;
        }
    }
    return 0;
}

peat_status fd_write(int fd, const void *bytes, size_t n, struct error *err)
{
    if (write_all(fd, bytes, n) == 0)
        return PEAT_OK;
    char words[FILE_WORDS];
    return error_set(err, PEAT_IO, "cannot write: %s", file_words(errno, words));
}

/* close() that keeps the errno of an earlier failure. A file that could not be closed cleanly
 * counts as not written. */
static int close_after(int fd, int bad)
{
    int reason = errno;
    if (close(fd) < 0 && !bad)
        return -1;
    errno = reason;
    return bad;
}

/* ---- a temporary name first ---- */

/* "<file>.tmp-<pid>-<n>"; a long name is cut, so that the temporary name is not too long. The
 * number is the time, so that a process of another host with the same pid does not use it either.
 */
static void name_temporary(const char *path, struct strbuf *name)
{
    const char *base = path_name(path);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    strbuf_clear(name);
    strbuf_add_bytes(name, path, (size_t)(base - path));
    strbuf_addf(name, "%.*s" TEMPORARY "%ld-%" PRId64, NAME_MAX - 64, base, (long)getpid(),
                (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
}

/* Opens the temporary file and locks it until it is closed. `old`: the file that is replaced, NULL:
 * no such file. Its mode is copied; a file system without modes may refuse that. 0 or -1 with
 * errno; with an empty name when no file needs to be removed. */
static int write_temporary(const char *path, const struct stat *old, const void *bytes, size_t n,
                           struct strbuf *name)
{
    const mode_t mode = old ? old->st_mode & 0777 : 0666;
    name_temporary(path, name);
    int fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0) {
        strbuf_clear(name);
        return -1;
    }
    (void)!flock(fd, LOCK_EX | LOCK_NB);
    int bad = write_all(fd, bytes, n);
    if (!bad && old)
        (void)!fchmod(fd, mode);
    if (!bad)
        bad = fsync(fd);
    return close_after(fd, bad);
}

/* The holder of a run directory's lock removes temporary files there. Before it is locked and after
 * it is closed, a temporary file looks for an instant like one of a dead process; if it is removed
 * then, it is written again. */
static peat_status replace(const char *path, const struct stat *old, const void *bytes, size_t n,
                           struct error *err)
{
    enum { TRIES = 100 };
    struct strbuf name = STRBUF_NEW;
    int bad = -1;
    bool again = true; /* another process has the name, or has removed the file */
    struct stops_held held;
    stops_hold(&held);
    for (int i = 0; i < TRIES && bad && again; i++) {
        bad = write_temporary(path, old, bytes, n, &name);
        again = bad && !name.n && errno == EEXIST;
        if (!bad && rename(name.text, path) < 0) {
            bad = -1;
            again = errno == ENOENT;
        }
    }
    peat_status status = bad ? file_failure(err, "write", path) : PEAT_OK;
    if (bad && name.n)
        unlink(name.text);
    strbuf_release(&name);
    stops_let(&held);
    return status == PEAT_OK ? dir_sync_parent(path, err) : status;
}

static bool all_digits(const char *from, const char *to)
{
    return from < to && (size_t)(to - from) == strspn(from, "0123456789");
}

/* "<anything>.tmp-<digits>-<digits>" */
static bool is_temporary(const char *name)
{
    const char *mark = NULL;
    for (const char *at = name; (at = strstr(at, TEMPORARY)); at++)
        mark = at + strlen(TEMPORARY);
    const char *dash = mark ? strchr(mark, '-') : NULL;
    return dash && all_digits(mark, dash) && all_digits(dash + 1, name + strlen(name));
}

/* Removes the file unless a process is writing it, which then holds its lock. */
static void remove_abandoned(const char *path)
{
    int fd;
    if (file_open(path, O_RDONLY, FILE_OWN, &fd, NULL) != PEAT_OK)
        return;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        unlink(path);
    close(fd);
}

void dir_tidy(const char *path)
{
    char **name;
    int n;
    dir_list(path, &name, &n, NULL);
    for (int i = 0; i < n; i++)
        if (is_temporary(name[i]))
            remove_abandoned(path_in(path, name[i]).text);
    names_free(name, n);
}

/* ---- writing directly ---- */

/* Opening a pipe for writing waits for a reader. A shell that starts both ends at once gets some
 * seconds, counted in checks, so that a pause of the machine is one check. */
static int open_device(const char *path)
{
    enum { LOOKS_PER_SECOND = 50, SECONDS = 10 };
    const struct timespec pause = {0, 1000 * 1000 * 1000 / LOOKS_PER_SECOND};
    int fd, looks = 0;
    while ((fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) < 0 && errno == ENXIO &&
           looks++ < SECONDS * LOOKS_PER_SECOND)
        nanosleep(&pause, NULL);
    return fd;
}

static peat_status write_straight(int fd, const char *path, const void *bytes, size_t n,
                                  struct error *err)
{
    if (fd < 0 && errno == ENXIO)
        return error_set(err, PEAT_IO, "cannot write '%s': nobody reads from this pipe", path);
    if (fd < 0 || close_after(fd, write_all(fd, bytes, n)) < 0)
        return file_failure(err, "write", path);
    return PEAT_OK;
}

/* ---- choosing how to write ---- */

/* The file that a chain of links names, whether it exists or not; freed by the caller. */
static char *behind_links(const char *path)
{
    enum { LINKS_MOST = 40 };
    char target[PATH_MAX], *at = path_beside("", path);
    for (int i = 0; i < LINKS_MOST; i++) {
        ssize_t n = readlink(at, target, sizeof(target) - 1);
        if (n < 0)
            break;
        target[n] = '\0';
        char *next = path_beside(at, target);
        free(at);
        at = next;
    }
    return at;
}

peat_status file_write(const char *path, const void *bytes, size_t n, struct error *err)
{
    struct stat st;
    int given = file_descriptor(path);
    if (given >= 0)
        return write_straight(fcntl(given, F_DUPFD_CLOEXEC, 3), path, bytes, n, err);
    bool exists = stat(path, &st) == 0;
    if (!exists && errno != ENOENT)
        return file_failure(err, "write", path);
    if (exists && (S_ISFIFO(st.st_mode) || S_ISCHR(st.st_mode)))
        return write_straight(open_device(path), path, bytes, n, err);
    if (exists && !S_ISREG(st.st_mode))
        return file_refused(err, PEAT_IO, path, st.st_mode);
    char *target = behind_links(path);
    peat_status status = replace(target, exists ? &st : NULL, bytes, n, err);
    free(target);
    return status;
}

peat_status file_write_own(const char *path, const void *bytes, size_t n, struct error *err)
{
    struct stat st;
    bool exists = lstat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return file_refused(err, PEAT_IO, path, st.st_mode);
    return replace(path, exists ? &st : NULL, bytes, n, err);
}
