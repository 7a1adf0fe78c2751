/* SPDX-License-Identifier: MIT */
/*
 * archiver.h: what archive/libarchive.so, beside the plugins, offers to tarball.c.
 *
 * That object links to libarchive, so that no other verb than `bundle` loads it: with libxml2, ICU
 * and the library of C++ behind it, it takes longer to load than all the rest of a command.
 */
#ifndef GRID_ARCHIVER_H
#define GRID_ARCHIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct archive; /* libarchive's */

struct archiver {
    uint32_t size; /* bytes of this struct, which must match */
    /* Of gzip or xz; what is packed goes to `take`, which returns n. False, here and below: see
     * `why`. *a is NULL when there is no memory, and otherwise to be closed in any case. */
    bool (*open)(struct archive **a, bool xz,
                 ssize_t (*take)(struct archive *a, void *to, const void *bytes, size_t n),
                 void *to);
    /* A file, 0644, of nobody and no time. */
    bool (*add)(struct archive *a, const char *path, const void *bytes, size_t n);
    /* What has not been taken yet. */
    bool (*finish)(struct archive *a);
    const char *(*why)(struct archive *a); /* NULL: no reason given */
    void (*close)(struct archive *a);
};

/* The one symbol that it exports. */
#define ARCHIVER_SYMBOL "peat_archiver"
extern const struct archiver peat_archiver;

#endif
