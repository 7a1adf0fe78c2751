/* SPDX-License-Identifier: MIT */
/*
 * file.h: files that are whole or absent.
 *
 * file_write puts the bytes into a temporary file beside path, fsyncs it, renames it over path and
 * fsyncs the directory: at every instant path holds the old bytes or the new ones. A failed fsync
 * is a failure. EINTR and short writes are retried. A link keeps pointing where it did: the file
 * behind it is replaced. Pipes and devices are written to directly.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/error.h"

peat_status file_write(const char *path, const void *bytes, size_t n, struct error *err);
/* The whole file, with a terminating 0 after n bytes; freed by the caller. Refuses files beyond
 * limit bytes (0: no limit) and directories. PEAT_NOTFOUND when there is no such file. */
peat_status file_read(const char *path, size_t limit, char **bytes, size_t *n, struct error *err);
/* Like mkdir -p. */
peat_status dir_make(const char *path, struct error *err);
peat_status dir_sync(const char *path, struct error *err);
bool file_exists(const char *path);
/* Removes a directory with all it contains; absent is fine. */
peat_status dir_remove(const char *path, struct error *err);
/* path as seen from the directory of `beside`; absolute paths stay. Freed by the caller. */
char *path_beside(const char *beside, const char *path);
/* "a/b"; freed by the caller. */
char *path_join(const char *a, const char *b);
/* The names in a directory, sorted, without . and ..; freed with names_free. */
peat_status dir_list(const char *path, char ***name, int *n, struct error *err);
void names_free(char **name, int n);
/* write() all of it to a descriptor. */
peat_status fd_write(int fd, const void *bytes, size_t n, struct error *err);

#endif
