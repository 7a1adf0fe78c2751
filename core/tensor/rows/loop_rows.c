/* SPDX-License-Identifier: MIT */
/* loop_rows.c: sums over rows. */
#include "rows/loop_rows.h"

/* Eight lanes, combined in a fixed tree, so the loop vectorises in a fixed order of additions. */
VEC_INLINE real sum_dense(const real *x, int64_t n)
{
    real lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += x[i + k];
    for (int k = 0; i + k < n; k++)
        lane[k] += x[i + k];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
           ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* y[i] += x[i]; where y repeats, the row's sum is added to its one element. */
static void add_row(const void *ctx, const struct loop_row *row)
{
    real *restrict y = row->p[0];
    const real *restrict x = row->p[1];
    const int64_t ys = row->stride[0], xs = row->stride[1];
    (void)ctx;
    if (ys == 0 && xs == 1) {
        *y += sum_dense(x, row->n);
    } else if (ys == 0) {
        real sum = 0;
        for (int64_t i = 0; i < row->n; i++)
            sum += x[i * xs];
        *y += sum;
    } else if (ys == 1 && xs == 1) {
        for (int64_t i = 0; i < row->n; i++)
            y[i] += x[i];
    } else {
        for (int64_t i = 0; i < row->n; i++)
            y[i * ys] += x[i * xs];
    }
}

static void axpy(const void *ctx, const struct loop_row *row)
{
    real *y = row->p[0];
    const real *x = row->p[1];
    const real scale = (real) * (const double *)ctx;
    if (row->stride[0] == 1 && row->stride[1] == 1) {
        for (int64_t i = 0; i < row->n; i++)
            y[i] += scale * x[i];
        return;
    }
    for (int64_t i = 0; i < row->n; i++)
        y[i * row->stride[0]] += scale * x[i * row->stride[1]];
}

static void add(void *y, const void *x, int64_t n)
{
    real *restrict to = y;
    const real *restrict from = x;
    for (int64_t i = 0; i < n; i++)
        to[i] += from[i];
}

const struct loop_rows AT_LEVEL(loop_rows) = {add_row, axpy, add};
