/* SPDX-License-Identifier: MIT */
/* elementwise_rows.h: rows of the binary operations. */
#ifndef LEVELS_ELEMENTWISE_ROWS_H
#define LEVELS_ELEMENTWISE_ROWS_H

#include "tensor/levels.h"
#include "tensor/loop.h"

enum binary { ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM, BINARIES };

struct binary_rows {
    loop_fn forward;
    loop_fn set[2]; /* contribution to the gradient of a, of b */
    loop_fn add[2]; /* the same, added in place                */
};

struct elementwise_rows {
    struct binary_rows of[BINARIES];
};
LEVEL_TABLES(elementwise_rows)

#endif
