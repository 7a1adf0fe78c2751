/* SPDX-License-Identifier: MIT */
/* take_rows.h: rows of take_last and its gradient. */
#ifndef LEVELS_TAKE_ROWS_H
#define LEVELS_TAKE_ROWS_H

#include "tensor/levels.h"

/* n elements of a row; y and da do not overlap what they are made of. */
struct take_rows {
    void (*pick)(void *y, const void *a, const int32_t *index, int64_t n);
    /* In the order of j, also where an index comes again. */
    void (*scatter)(void *da, const void *dy, const int32_t *index, int64_t n);
};
LEVEL_TABLES(take_rows)

#endif
