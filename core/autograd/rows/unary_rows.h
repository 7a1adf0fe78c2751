/* SPDX-License-Identifier: MIT */
/* unary_rows.h: rows of functions of one element. */
#ifndef ROWS_UNARY_ROWS_H
#define ROWS_UNARY_ROWS_H

#include "tensor/levels.h"
#include "tensor/loop.h"

enum unary {
    EXP,
    LOG,
    LOG1P,
    SQRT,
    SIN,
    COS,
    TANH,
    SIGMOID,
    LOG_SIGMOID,
    SOFTPLUS,
    RELU,
    GELU,
    GELU_TANH,
    ABS,
    FLOOR,
    AFFINE,
    CLAMP,
    UNARIES
};

/* The context of a row function: two numbers for AFFINE and CLAMP, and whether dx is written, not
 * added to. */
struct unary_call {
    double p, q;
    bool fresh;
};

/* y = f(x), of rows of y and x;  dx += dy f'(x), of rows of dx, dy, x and y */
struct unary_rows {
    struct {
        loop_fn forward, grad;
    } of[UNARIES];
};
LEVEL_TABLES(unary_rows)

#endif
