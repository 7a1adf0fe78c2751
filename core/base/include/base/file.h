/* SPDX-License-Identifier: MIT */
/*
 * file.h: reads and writes regular files, which are always whole or absent.
 *
 * Everything that PEAT reads or writes is opened here. A pipe, a device, a socket or a directory
 * instead of a file is refused with one line, so that PEAT never waits for it. In a run directory
 * nothing is written through a symbolic link, so that writing in a copy made of links does not
 * change the original.
 *
 * A file is written under a temporary name of its own in the same folder, <file>.tmp-<pid>-<n>,
 * fsynced, renamed over path, and its folder fsynced: at every instant path holds the old bytes or
 * the new ones, even if other processes write it. A failed fsync is a failure. EINTR and short
 * writes are retried. The mode of the file that is replaced stays.
 */
#pragma once

#include <limits.h>

#include "base/arena.h"
#include "base/error.h"

/* ---- opening ---- */

enum file_owner {
    FILE_ANYONES, /* a regular file, also behind a symbolic link */
    FILE_OWN,     /* a regular file, not a link: for run directories */
};

/* open() with O_CLOEXEC and mode 0666 of a regular file. PEAT_NOTFOUND when it does not exist,
 * PEAT_INVALID when a file to be read is not regular, PEAT_IO when a file to be written is not. */
peat_status file_open(const char *path, int flags, enum file_owner owner, int *fd,
                      struct error *err);
/* The open descriptor that path is a name of (/dev/stdout, /dev/fd/N, /proc/self/fd/N), or -1. */
int file_descriptor(const char *path);

/* ---- writing ---- */

/* For paths that the user chose. A link keeps its target, and the target is written. Pipes,
 * character devices and names of open descriptors are written to directly; a pipe without a reader
 * is refused after ten seconds. */
peat_status file_write(const char *path, const void *bytes, size_t n, struct error *err);
/* In a run directory: an existing file must be regular and not a link. */
peat_status file_write_own(const char *path, const void *bytes, size_t n, struct error *err);
/* Removes temporary files that killed processes have left in a directory. The caller holds the
 * directory's lock; a write under way in another process starts again. */
void dir_tidy(const char *path);
/* write() all of it to a descriptor. */
peat_status fd_write(int fd, const void *bytes, size_t n, struct error *err);

/* ---- reading ---- */

/* The whole file, with a terminating 0 after n bytes; freed by the caller. Refuses files of
 * more than limit bytes (0: no limit) and files that are not regular. PEAT_NOTFOUND when it
 * is missing. */
peat_status file_read(const char *path, size_t limit, char **bytes, size_t *n, struct error *err);
/* file_read, and also reads an open descriptor named by path to its end, as /dev/stdin or a shell's
 * <(command): a pipe or a terminal, which may take any time. */
peat_status file_read_stream(const char *path, size_t limit, char **bytes, size_t *n,
                             struct error *err);
/* The rest of an open file in the same way; path is for messages. */
peat_status fd_read(int fd, const char *path, size_t limit, char **bytes, size_t *n,
                    struct error *err);
bool file_exists(const char *path);
/* True where both paths lead to one file. */
bool file_is_same(const char *one, const char *two);
/* True where dir/name exists. */
bool dir_has(const char *dir, const char *name);
/* Limit in bytes of a file of a run directory, except weights. It is more than a grid writes, and
 * stops the reading of an endless file. */
enum { RUN_FILE_MOST = 1 << 30 };

/* ---- directories and paths ---- */

/* Removes dir/name, which may be absent. */
peat_status file_remove(const char *dir, const char *name, struct error *err);
/* Like mkdir -p. */
peat_status dir_make(const char *path, struct error *err);
peat_status dir_sync(const char *path, struct error *err);
/* Syncs the folder that contains path. */
peat_status dir_sync_parent(const char *path, struct error *err);
/* Removes a directory, which may be absent, with all it contains. */
peat_status dir_remove(const char *path, struct error *err);
/* path as seen from the directory of `beside`; absolute paths stay. Freed by the caller. */
char *path_beside(const char *beside, const char *path);
/* "a/b"; freed by the caller. */
char *path_join(const char *a, const char *b);
/* "dir/name" by value: path_in(dir, "lock").text. A path that is too long is cut, and remains
 * longer than any path that the system accepts. */
struct file_path {
    char text[PATH_MAX + 1];
};
struct file_path path_in(const char *dir, const char *name);
/* The part after the last slash; path itself when it has none. */
const char *path_name(const char *path);
/* The folder of a path: "a/b" for "a/b/c", "." for "c". */
struct file_path path_folder(const char *path);
/* The path without the slashes at its end that shells add to the name of a directory. */
const char *path_bare(const char *path, struct arena *a);
bool path_is_directory(const char *path);
/* "one.npy" ends in ".npy", but ".npy" does not. */
bool path_ends_in(const char *path, const char *ending);
/* The names in a directory, sorted, without . and ..; none after an error. Free with names_free. */
peat_status dir_list(const char *path, char ***name, int *n, struct error *err);
void names_free(char **name, int n);
