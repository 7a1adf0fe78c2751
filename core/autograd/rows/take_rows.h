/* SPDX-License-Identifier: MIT */
/* take_rows.h: rows of take_last, scatter_last and gather_rows, and their gradients. */
#pragma once

#include "tensor/levels.h"

/* Rows side by side; no two of a are the same. */
enum { TAKE_APART = 8 };
struct taken_rows {
    void *a[TAKE_APART], *y[TAKE_APART];
    const int32_t *index[TAKE_APART];
    int64_t ahead; /* bytes from rows of y to those that come next; 0: none do */
};

/* n elements of a row; y and da do not overlap what they are made of. */
struct take_rows {
    void (*pick)(void *y, const void *a, const int32_t *index, int64_t n);
    void (*pick_more)(void *dy, const void *a, const int32_t *index, int64_t n); /* added */
    /* In the order of j, also where an index comes again. */
    void (*scatter)(void *da, const void *dy, const int32_t *index, int64_t n);
    /* The same of da and dy of each row, faster where an index comes again and again, since sums
     * of different rows need not wait for each other. */
    void (*scatter_apart)(const struct taken_rows *t, int64_t n);
    /* Columns [begin, end) of table[index_i] += dy_i for i < count, in order. */
    void (*scatter_rows)(void *table, const void *dy, const int32_t *index, int64_t count,
                         int64_t columns, int64_t begin, int64_t end);
};
LEVEL_TABLES(take_rows)
