/* SPDX-License-Identifier: MIT */
/* ids_file.h: an array of NumPy's that is written id by id. */
#pragma once

#include "base/base.h"

enum { IDS_HEADER = 128, IDS_HELD = 1 << 16 };

struct ids_file {
    const char *path;
    int fd;
    int width; /* bytes of an id: 2 or 4 */
    int64_t n;
    size_t held;
    unsigned char buffer[IDS_HELD];
};

/* ids of 2 bytes where all are below 65,536, else of 4. */
peat_status ids_file_open(struct ids_file *f, const char *path, int64_t vocab, struct error *err);
peat_status ids_file_add(struct ids_file *f, int32_t id, struct error *err);
/* Writes the header and syncs, unless `status` is an error, which it returns; closes. */
peat_status ids_file_close(struct ids_file *f, peat_status status, struct error *err);
