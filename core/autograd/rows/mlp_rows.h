/* SPDX-License-Identifier: MIT */
/* mlp_rows.h: the loops of op_mlp.c between its products. */
#pragma once

#include "autograd/ops.h"
#include "tensor/levels.h"

/* The sums of one weight, for add_strips. */
struct strip_sums {
    void *own;
    const void *apart; /* [n, count] */
    int64_t n, count;
};

struct mlp_rows {
    /* From u [rows, n], or of a gate [rows, 2n], h [rows, n]. d is NULL or as wide as u: in its
     * first n columns the gradient of h, which becomes that of u. NaN passes. */
    void (*activate)(enum mlp_activation f, const void *u, void *h, void *d, int64_t rows,
                     int64_t n);
    /* h from u as in activate; d: the slopes of h by u */
    void (*slopes)(enum mlp_activation f, const void *u, void *h, void *d, int64_t rows, int64_t n);
    /* u += bias, then h */
    void (*activate_biased)(enum mlp_activation f, void *u, const void *bias, void *h, int64_t rows,
                            int64_t n);
    /* sum [n] += the rows of x [rows, n], in order */
    void (*sum_rows)(void *sum, const void *x, int64_t rows, int64_t n);
    /* own [count] += apart [n, count], one after another; the context is a struct strip_sums */
    void (*add_strips)(void *ctx, int64_t begin, int64_t end);
};
LEVEL_TABLES(mlp_rows)
