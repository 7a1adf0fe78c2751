/* SPDX-License-Identifier: MIT */
/*
 * own_dir.h: a directory for temporary files of a command.
 *
 * It is locked while its process lives. The directory of a killed process is removed by the next
 * process of the same user that opens one of the same kind.
 */
#pragma once

#include "base/error.h"

struct own_dir {
    char *path;
    int lock;
};

/* "/tmp/peat-figure-XXXXXX", or in TMPDIR, for mkdtemp or mkstemp; freed by the caller. */
char *own_dir_pattern(const char *kind);
peat_status own_dir_open(struct own_dir *d, const char *kind, struct error *err);
/* Removes it with all it contains. */
void own_dir_close(struct own_dir *d);
