/* SPDX-License-Identifier: MIT */
/* take_rows.h: rows of take_last, scatter_last and gather_rows, and their gradients. */
#pragma once

#include "tensor/levels.h"

/* Rows side by side; no two rows of a are the same. */
enum { TAKE_APART = 8 };
struct taken_rows {
    void *a[TAKE_APART], *y[TAKE_APART];
    const int32_t *index[TAKE_APART];
    int64_t ahead; /* bytes from rows of y to those that come next; 0: no more rows */
};

/* n elements of a row; y and da do not overlap their operands. */
struct take_rows {
    void (*pick)(void *y, const void *a, const int32_t *index, int64_t n);
    void (*pick_more)(void *dy, const void *a, const int32_t *index, int64_t n); /* added */
    /* In the order of j, also for repeated indices. */
    void (*scatter)(void *da, const void *dy, const int32_t *index, int64_t n);
    /* Scatters into da of each row. Faster for repeated indices, since sums of different rows do
     * not wait for each other. */
    void (*scatter_apart)(const struct taken_rows *t, int64_t n);
    /* Columns [begin, end) of table[index_i] += dy_i for i < count, in order. */
    void (*scatter_rows)(void *table, const void *dy, const int32_t *index, int64_t count,
                         int64_t columns, int64_t begin, int64_t end);
};
LEVEL_TABLES(take_rows)
