/* SPDX-License-Identifier: MIT */
/* file_open.c: opens regular files, and refuses pipes, devices and directories. */

#include "file_failure.h"

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
