/* SPDX-License-Identifier: MIT */
/* file_open.c: opens regular files, refuses pipes, devices and directories, and says why. */
#include "file_open.h"

#include <sys/resource.h>

/* ---- messages ---- */

const char *file_words(int reason, char words[FILE_WORDS])
{
    struct rlimit limit;
    if (reason != EFBIG || getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return strerror(reason);
    snprintf(words, FILE_WORDS, "%s (`ulimit -f` allows %ju bytes)", strerror(reason),
             (uintmax_t)limit.rlim_cur);
    return words;
}

peat_status file_failure(struct error *err, const char *verb, const char *path)
{
    int reason = errno;
    char words[FILE_WORDS];
    peat_status status = reason == ENOENT ? PEAT_NOTFOUND : PEAT_IO;
    return error_set(err, status, "cannot %s '%s': %s", verb, path, file_words(reason, words));
}

static const char *kind_of(mode_t mode)
{
    return S_ISFIFO(mode) ? "a named pipe" : S_ISSOCK(mode) ? "a socket" : "a device";
}

peat_status file_refused(struct error *err, peat_status status, const char *path, mode_t mode)
{
    if (S_ISDIR(mode))
        return error_set(err, status, "'%s' is a directory", path);
    if (S_ISLNK(mode))
        return error_set(err, status,
                         "'%s' is a symbolic link, and inside a run directory nothing is written "
                         "through one; copy the directory with cp -rL",
                         path);
    return error_set(err, status, "'%s' is %s, not a regular file", path, kind_of(mode));
}

/* ---- opening ---- */

/* The file is checked before it is opened, because opening a pipe or a device has effects, and
 * again through the descriptor, because the name may belong to another file by then. */
peat_status file_open(const char *path, int flags, enum file_owner owner, int *fd,
                      struct error *err)
{
    struct stat st;
    bool own = owner == FILE_OWN;
    peat_status status = (flags & O_ACCMODE) == O_RDONLY ? PEAT_INVALID : PEAT_IO;
    *fd = -1;
    if ((own ? lstat : stat)(path, &st) == 0 && !S_ISREG(st.st_mode))
        return file_refused(err, status, path, st.st_mode);
    int opened =
        open(path, flags | (own ? O_NOFOLLOW : 0) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (opened < 0) {
        peat_status failed = file_failure(err, "open", path);
        if (status == PEAT_INVALID)
            return failed;
        if (err)
            err->status = status;
        return status;
    }
    if (fstat(opened, &st) == 0 && S_ISREG(st.st_mode)) {
        *fd = opened;
        return PEAT_OK;
    }
    close(opened);
    return file_refused(err, status, path, st.st_mode);
}

int file_descriptor(const char *path)
{
    static const char *const standard[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
    static const char *const folder[] = {"/dev/fd/", "/proc/self/fd/"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(path, standard[i]))
            return i;
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(folder[i]);
        const char *digits = path + n;
        if (strncmp(path, folder[i], n) != 0 || !*digits || strlen(digits) > 9)
            continue;
        if (strspn(digits, "0123456789") == strlen(digits))
            return atoi(digits);
    }
    return -1;
}
