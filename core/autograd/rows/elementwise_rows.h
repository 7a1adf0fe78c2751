/* SPDX-License-Identifier: MIT */
/* elementwise_rows.h: rows of the binary operations. */
#pragma once

#include "tensor/levels.h"
#include "tensor/loop.h"

enum binary { ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM, BINARIES };

/* z = F(a, b); da += dz F_a and db += dz F_b, or = where the context, a bool, is true. Rows of
 * gradients are those of da or db, dz, a and b. */
struct elementwise_rows {
    struct {
        loop_fn forward, grad[2];
    } of[BINARIES];
};
LEVEL_TABLES(elementwise_rows)
