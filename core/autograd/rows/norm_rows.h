/* SPDX-License-Identifier: MIT */
/* norm_rows.h: rows of layernorm, rmsnorm and normalize, and their gradients. */
#pragma once

#include "tensor/levels.h"
#include "tensor/parallel.h"

struct norm {
    int64_t n, grain;
    double eps, divisor;
    bool centre, fresh; /* fresh: dx is written, not added to */
    const void *x, *w, *b, *dy;
    void *y, *dx, *dw, *db; /* dw, db: [tiles, n] partial sums */
    void *stat;             /* [rows, 2]: mean and rate        */
};

struct norm_rows {
    range_fn forward, backward;
};
LEVEL_TABLES(norm_rows)
