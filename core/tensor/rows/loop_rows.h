/* SPDX-License-Identifier: MIT */
/* loop_rows.h: sums over rows. */
#pragma once

#include "tensor/levels.h"
#include "tensor/loop.h"

struct loop_rows {
    loop_fn add_row; /* y[i] += x[i]; where y repeats, the row's sum is added to its one element */
    loop_fn axpy;    /* y[i] += scale * x[i]; ctx is scale, a double                       */
    void (*add)(void *y, const void *x, int64_t n); /* y += x, which do not overlap */
};
LEVEL_TABLES(loop_rows)
