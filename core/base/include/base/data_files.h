/* SPDX-License-Identifier: MIT */
/*
 * data_files.h: data files, each known by the SHA-256 of the very bytes that a plugin gets.
 *
 * A file can be replaced, grow or shrink while a program looks at it: hashed in one look and read
 * in another, a cell would train on data that its hash does not name. Here bytes are hashed after
 * they were read, and kept: each file is read once. A plan, whose grid may have more data than fit
 * into memory, keeps some; of a file that it did not keep it reads the same bytes again or refuses.
 */
#ifndef BASE_DATA_FILES_H
#define BASE_DATA_FILES_H

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

struct data_files {
    struct arena *a;  /* of the table and its bytes */
    size_t keep_most; /* bytes; 0: files are hashed, and not read as data */
    size_t kept;
    int n, room;
    struct data_file {
        const char *path;
        char hex[HASH_HEX];
        const unsigned char *byte; /* [bytes], and a 0 behind them; NULL: not kept */
        size_t bytes;
    } * item;
};

/* Bytes that a plan keeps. */
#define DATA_KEPT_BY_PLANS ((size_t)1 << 30)

/* *hex lives as long as f->a. PEAT_NOMEM, here and below: larger than all memory. */
peat_status data_hash(struct data_files *f, const char *path, const char **hex, struct error *err);
/* The file, which lives as long as `a`, and f->a when it is kept there. PEAT_INVALID when it has
 * changed since. */
peat_status data_read(struct data_files *f, const char *path, struct arena *a,
                      const unsigned char **byte, size_t *bytes, struct error *err);

#endif
