/* SPDX-License-Identifier: MIT */
/* unary_rows.h: rows of functions of one element. */
#pragma once

#include "tensor/levels.h"
#include "tensor/loop.h"

#define UNARY_LIST(X)                                                                              \
    X(exp), X(log), X(log1p), X(sqrt), X(sin), X(cos), X(tanh), X(sigmoid), X(log_sigmoid),        \
        X(softplus), X(relu), X(gelu), X(gelu_tanh), X(abs), X(floor), X(affine), X(clamp)

#define UNARY_NAME(name) UNARY_##name
enum unary { UNARY_LIST(UNARY_NAME), UNARIES };
#undef UNARY_NAME

/* The context of a row function: two numbers for affine and clamp, and whether dx is written, not
 * added to. */
struct unary_call {
    double p, q;
    bool fresh;
};

/* y = f(x), of rows of y and x;  dx += dy f'(x), of rows of dx, dy, x and y. floor has no grad. */
struct unary_rows {
    struct {
        loop_fn forward, grad;
    } of[UNARIES];
};
LEVEL_TABLES(unary_rows)
