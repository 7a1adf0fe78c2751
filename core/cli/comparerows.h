/* SPDX-License-Identifier: MIT */
/* comparerows.h: two rows of a run directory, seed by seed. */
#ifndef CLI_COMPAREROWS_H
#define CLI_COMPAREROWS_H

#include "report/results.h"

struct row_pair {
    const struct results *r;
    const struct result_row *a, *b;
    struct arena *arena;
};

/* only: one length; -1: all. Returns the exit code. */
int rows_print(const struct row_pair *p, int64_t only, bool json);

#endif
