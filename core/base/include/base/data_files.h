/* SPDX-License-Identifier: MIT */
/*
 * data_files.h: data files, each known by the SHA-256 of the very bytes that a plugin gets.
 *
 * A file can be replaced, grow or shrink while a program looks at it: hashed in one look and read
 * in another, a cell would train on data that its hash does not name. Here bytes are hashed after
 * they were read, and kept: each file is read once. A plan, whose grid may have more data than fit
 * into memory, keeps some; of a file that it did not keep it reads the same bytes again or refuses.
 *
 * A large file is mapped instead of read, and may be larger than memory.
 */
#pragma once

#include <sys/stat.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"

/*
 * A file that is seen as memory and read page by page, when a page is used.
 *
 * The system may take the pages back at any time, so the file may be larger than memory. What
 * others write into the file shows in these pages; `mapped_file_check` notices it. A file that is
 * replaced by rename, or removed, stays as it was.
 */
struct mapped_file {
    const unsigned char *byte; /* [bytes], and a 0 behind them; read only */
    size_t bytes;
    struct stat was; /* when it was mapped */
};

/* For as long as the process lives. Errors as file_open's; PEAT_NOMEM: no room for the addresses
 * (`ulimit -v`). */
peat_status mapped_file_open(struct mapped_file *m, const char *path, struct error *err);
/* PEAT_INVALID: the file at `path` is the one that was mapped, and its size or time of the last
 * change is another. Takes about a microsecond. */
peat_status mapped_file_check(const struct mapped_file *m, const char *path, struct error *err);

/* ---- the table ---- */

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
        const struct mapped_file *map; /* NULL: read */
    } * item;
};

/* A folder that has DATA_FOLDER_PIECES (`peat tokenize` makes it) is data as a whole: its hash is
 * that of the lines `<SHA-256>  <name>` of these two files, as sha256sum prints them. */
#define DATA_FOLDER_IDS    "ids.npy"
#define DATA_FOLDER_PIECES "pieces.tsv"

/* Bytes that a plan keeps. */
#define DATA_KEPT_BY_PLANS ((size_t)1 << 30)

/* Files from this size on are mapped. */
#define DATA_MAPPED_FROM (64 << 20)

/* *hex lives as long as f->a. */
peat_status data_hash(struct data_files *f, const char *path, const char **hex, struct error *err);
/* The file, which lives as long as `a`, as f->a when it is kept there, or as the process when it is
 * mapped. PEAT_INVALID when it has changed since. */
peat_status data_read(struct data_files *f, const char *path, struct arena *a,
                      const unsigned char **byte, size_t *bytes, struct error *err);
/* PEAT_INVALID: somebody wrote into a file that is mapped. For loops that use the bytes. */
peat_status data_check(const struct data_files *f, struct error *err);
