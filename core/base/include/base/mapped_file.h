/* SPDX-License-Identifier: MIT */
/*
 * mapped_file.h: a file that is seen as memory and read page by page, when a page is used.
 *
 * The system may take the pages back at any time, so the file may be larger than memory. What
 * others write into the file shows in these pages; `mapped_file_check` notices it. A file that is
 * replaced by rename, or removed, stays as it was.
 */
#pragma once

#include <sys/stat.h>

#include "base/error.h"

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
