/* SPDX-License-Identifier: MIT */
/*
 * vecmath.h: exp and its relatives over rows, fast in F32 and exact (libm) in F64.
 *
 * The F32 functions are polynomials in plain C that the compiler vectorises. They have no
 * sums, so the result for an element does not depend on its place in the row. y may be x, and dx
 * may be dy, but they may not overlap otherwise; n may be 0. NaN gives NaN.
 *
 * Largest errors: exp 2e-7 relative; the others 5e-7 absolute per unit of |x| where they grow.
 */
#pragma once

#include "tensor/levels.h"

/* A row for exp_sums. */
struct exp_row {
    void *x;
    int64_t n;
    double shift, sum;
};

/* y = f(x); dx += dy f'(x), or dx = dy f'(x) with `fresh`; y = f(x) and d *= f'(x) */
typedef void vec_map(void *y, const void *x, int64_t n);
typedef void vec_grad(void *dx, const void *x, const void *dy, int64_t n, bool fresh);
typedef void vec_both(void *y, void *d, const void *x, int64_t n);

struct vec_rows {
    /* In F32, exp is 0 below -87.33, where denormal results would begin, and inf above 88.72. */
    vec_map *exp, *tanh, *erf;
    /* 1 / (1 + exp(-x)), its logarithm, and log(1 + exp(x)) */
    vec_map *sigmoid, *log_sigmoid, *softplus;
    vec_grad *log_sigmoid_grad, *softplus_grad;
    /* x / (1 + exp(-x)) */
    vec_map *silu;
    vec_both *silu_both;
    /* x Phi(x), Phi the normal distribution function; and, for gelu_tanh, x/2 (1 + tanh(u)) with
     * u = sqrt(2/pi) (x + 0.044715 x^3) */
    vec_map *gelu, *gelu_tanh;
    vec_grad *gelu_grad, *gelu_tanh_grad;
    vec_both *gelu_both, *gelu_tanh_both;
    /* y = exp(x - shift); returns the sum of y as lane_sum adds it (tensor/lanes.h). */
    double (*exp_sum)(void *y, const void *x, double shift, int64_t n);
    /* exp_sum in place for several short rows, for which a call each would cost as much as the
     * work: n is a multiple of 16; sum is set. */
    void (*exp_sums)(struct exp_row *row, int64_t rows);
};
LEVEL_TABLES(vec_rows)
