/* SPDX-License-Identifier: MIT */
/* loss_rows.h: rows of the cross-entropy. */
#pragma once

#include "tensor/levels.h"
#include "tensor/parallel.h"

struct loss {
    int64_t n; /* classes */
    const void *x;
    const int32_t *target;
    double *lse; /* log-sum-exp of each row that has a target */
    void *dx;
    bool fresh; /* dx is written, not added to */
    double scale;
};

/* A block of rows; the pointers point to its first row. */
struct scores {
    int64_t n;
    const void *x;
    const int32_t *target;
    double *nll;
    bool *correct;
};

struct loss_rows {
    range_fn loss, grad; /* the context is a struct loss */
    range_fn scores;     /* the context is a struct scores */
};
LEVEL_TABLES(loss_rows)
