/* SPDX-License-Identifier: MIT */
/*
 * data_files.h: data files, each identified by the SHA-256 of exactly the bytes that a plugin gets.
 *
 * A file can change while a program reads it. If it were read once for the hash and again for the
 * data, a cell could train on data with another hash. So each file is read once, and its bytes are
 * hashed and kept. A plan, whose grid may have more data than fit into memory, keeps only some
 * files; it reads the others again, and refuses one whose bytes have changed.
 *
 * A large file is mapped instead of read, and may be larger than memory: it is read page by page,
 * when a page is used, and the system may take pages back at any time. When another program writes
 * into it, the pages change; data_check notices it. A file that is replaced by rename, or removed,
 * stays as it was. Mappings last until the process ends, and each keeps a descriptor of its file,
 * by which changes are noticed wherever the file is moved.
 */
#pragma once

#include <sys/stat.h>

#include "base/arena.h"
#include "base/hash.h"

struct data_files {
    struct arena *a;  /* memory of the table and its bytes */
    size_t keep_most; /* most bytes to keep; 0: files are only hashed */
    size_t kept;
    int n, room;
    struct data_file {
        const char *path;
        char hex[HASH_HEX];
        const unsigned char *byte; /* [bytes], followed by a 0; NULL: not kept */
        size_t bytes;
        bool mapped;
        int fd;          /* of a mapped file */
        struct stat was; /* state of the file when it was mapped */
    } * item;
};

/* A folder that has DATA_FOLDER_PIECES (`peat tokenize` makes it) is data as a whole: its hash is
 * that of the lines `<SHA-256>  <name>` of these two files, as sha256sum prints them. */
#define DATA_FOLDER_IDS    "ids.npy"
#define DATA_FOLDER_PIECES "pieces.tsv"

/* Most bytes that a plan keeps. */
#define DATA_KEPT_BY_PLANS ((size_t)1 << 30)

/* Files of this size or more are mapped. */
#define DATA_MAPPED_FROM (64 << 20)

/* *hex lives as long as f->a. */
peat_status data_hash(struct data_files *f, const char *path, const char **hex, struct error *err);
/* True: data_hash or data_read was given this path, or data_hash its folder of pieces. */
bool data_is_known(const struct data_files *f, const char *path);
/* The file's bytes. They live as long as `a`, as f->a when they are kept there, or as the process
 * when the file is mapped. PEAT_INVALID when the file has changed. */
peat_status data_read(struct data_files *f, const char *path, struct arena *a,
                      const unsigned char **byte, size_t *bytes, struct error *err);
/* PEAT_INVALID: a mapped file was written to. For loops that use the bytes. */
peat_status data_check(const struct data_files *f, struct error *err);
/* data_check, with the bytes hashed again: a program that writes through a mapping may change no
 * time (on tmpfs). For the end, before anything is said about the bytes. */
peat_status data_check_bytes(const struct data_files *f, struct error *err);
