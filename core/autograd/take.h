/* SPDX-License-Identifier: MIT */
/* take.h: gathers and scatters of the elements of rows by an index. */
#pragma once

#include "tensor/tensor.h"

/* Rows one after another; rows of a do not overlap those of y. */
struct take_block {
    int64_t rows;
    char *a, *y;
    const int32_t *index;
    int64_t a_step, y_step, index_step; /* strides from a row to the next: bytes, bytes, elements */
};

/* y_j = a[index_j] in each row, or y_j += where not fresh; rows of y have `columns` elements, rows
 * of a `length`. */
void take_pick(peat_dtype dtype, const struct take_block *b, int64_t length, int64_t columns,
               bool fresh);
/* a[index_j] += y_j in each row, in the order of j. */
void take_scatter(peat_dtype dtype, const struct take_block *b, int64_t columns);
