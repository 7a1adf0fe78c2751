/* SPDX-License-Identifier: MIT */
/* mapped_file.c: mmap, with a page of zeros behind the file. */

#include "base/base.h"
#include <sys/mman.h>

/* Addresses for the file and at least one byte more, over which the file is laid. */
static const unsigned char *map(int fd, size_t bytes)
{
    unsigned char *room =
        mmap(NULL, bytes + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return NULL;
    if (bytes > 0 && mmap(room, bytes, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        int reason = errno;
        munmap(room, bytes + 1);
        errno = reason;
        return NULL;
    }
    return room;
}

peat_status mapped_file_open(struct mapped_file *m, const char *path, struct error *err)
{
    int fd;
    peat_status status = file_open(path, O_RDONLY, FILE_ANYONES, &fd, err);
    if (status != PEAT_OK)
        return status;
    *m = (struct mapped_file){0};
    if (fstat(fd, &m->was) == 0) {
        m->bytes = (size_t)m->was.st_size;
        m->byte = map(fd, m->bytes);
    }
    int reason = errno;
    close(fd);
    if (m->byte)
        return PEAT_OK;
    return error_set(err, reason == ENOMEM ? PEAT_NOMEM : PEAT_IO,
                     "cannot map the %ju bytes of '%s' into memory: %s", (uintmax_t)m->was.st_size,
                     path, strerror(reason));
}

peat_status mapped_file_check(const struct mapped_file *m, const char *path, struct error *err)
{
    struct stat now;
    const struct stat *was = &m->was;
    if (stat(path, &now) != 0 || now.st_dev != was->st_dev || now.st_ino != was->st_ino)
        return PEAT_OK;
    if (now.st_size == was->st_size && now.st_mtim.tv_sec == was->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID,
                     "'%s' was written while it was being read: a file of this size is mapped into "
                     "memory and must stay as it is; run again when nothing writes it any more",
                     path);
}
