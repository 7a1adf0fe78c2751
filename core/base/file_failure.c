/* SPDX-License-Identifier: MIT */
/* file_failure.c: messages about files that could not be used. */
#include "file_failure.h"

#include <sys/resource.h>

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
