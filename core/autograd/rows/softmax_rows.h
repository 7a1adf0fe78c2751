/* SPDX-License-Identifier: MIT */
/* softmax_rows.h: rows of softmax and its gradient. */
#pragma once

#include "tensor/levels.h"
#include "tensor/loop.h"

struct softmax {
    int64_t n; /* length of a row */
    const void *x;
    void *y;
    const void *dy;
    void *dx;
    struct tensor mask; /* broadcast to the shape of x; data NULL: no mask */
    struct axes lead;   /* all axes but the last */
};

struct softmax_rows {
    range_fn forward, backward;
};
LEVEL_TABLES(softmax_rows)
