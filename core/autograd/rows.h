/* SPDX-License-Identifier: MIT */
/* rows.h: how operations over the last axis see their operands and cut their work. */
#ifndef AUTOGRAD_ROWS_H
#define AUTOGRAD_ROWS_H

#include "tensor/tensor.h"

static inline int64_t row_length(const struct tensor *t)
{
    return t->rank > 0 ? t->dim[t->rank - 1] : 1;
}

static inline int64_t row_count(const struct tensor *t)
{
    int64_t n = row_length(t);
    return n > 0 ? tensor_count(t) / n : 0;
}

/* Rows of a tile: enough elements to be worth a thread's while, by the shape alone. */
static inline int64_t row_grain(int64_t length)
{
    const int64_t elements = 8192;
    return length >= elements ? 1 : elements / (length > 0 ? length : 1);
}

#endif
