/* SPDX-License-Identifier: MIT */
/* mlp_rows.c: the loops of op_mlp.c between its products. */
#include "rows/mlp_rows.h"

#include "tensor/vecmath.h"

/* y = f(x); d *= f'(x) unless it is NULL */
static void map(enum mlp_activation f, const void *u, void *h, void *d, int64_t n)
{
    const struct vec_rows *vec = &AT_LEVEL(vec_rows);
    const real *x = u;
    real *y = h, *slope = d;
    if (f == MLP_SWIGLU && !d)
        vec->silu(y, x, n);
    else if (f == MLP_SWIGLU)
        vec->silu_both(y, slope, x, n);
    else if ((f == MLP_GELU || f == MLP_GEGLU) && !d)
        vec->gelu(y, x, n);
    else if (f == MLP_GELU || f == MLP_GEGLU)
        vec->gelu_both(y, slope, x, n);
    else if (f == MLP_GELU_TANH && !d)
        vec->gelu_tanh(y, x, n);
    else if (f == MLP_GELU_TANH)
        vec->gelu_tanh_both(y, slope, x, n);
    else
        for (int64_t i = 0; i < n; i++) {
            y[i] = x[i] < 0 ? 0 : x[i];
            if (d)
                slope[i] = x[i] > 0 ? slope[i] : 0;
        }
}

/* A row u = [g v]: h = f(g) v. Of its gradient e, in d, it makes [e f'(g) v, e f(g)]. */
static void gate_row(enum mlp_activation f, const real *u, real *restrict h, real *restrict d,
                     int64_t n)
{
    const real *restrict v = u + n;
    if (d)
        memcpy(d + n, d, (size_t)n * sizeof(*d));
    map(f, u, h, d, n);
    for (int64_t j = 0; d && j < n; j++) {
        d[j] *= v[j];
        d[n + j] *= h[j];
    }
    for (int64_t j = 0; j < n; j++)
        h[j] *= v[j];
}

static void activate(enum mlp_activation f, const void *u, void *h, void *d, int64_t rows,
                     int64_t n)
{
    if (!mlp_is_gated(f))
        map(f, u, h, d, rows * n);
    else
        for (int64_t i = 0; i < rows; i++)
            gate_row(f, (const real *)u + 2 * i * n, (real *)h + i * n,
                     d ? (real *)d + 2 * i * n : NULL, n);
}

static void slopes(enum mlp_activation f, const void *u, void *h, void *d, int64_t rows, int64_t n)
{
    real *slope = d;
    const int64_t width = mlp_is_gated(f) ? 2 * n : n;
    for (int64_t i = 0; i < rows * width; i++)
        slope[i] = 1;
    activate(f, u, h, d, rows, n);
}

/* A row at a time, while it is in the nearest cache. */
static void activate_biased(enum mlp_activation f, void *u, const void *bias, void *h, int64_t rows,
                            int64_t n)
{
    const real *restrict b = bias;
    const int64_t width = mlp_is_gated(f) ? 2 * n : n;
    for (int64_t i = 0; i < rows; i++) {
        real *restrict row = (real *)u + i * width;
        for (int64_t j = 0; j < width; j++)
            row[j] += b[j];
        activate(f, row, (real *)h + i * n, NULL, 1, n);
    }
}

static void sum_rows(void *sum, const void *x, int64_t rows, int64_t n)
{
    real *restrict to = sum;
    for (int64_t i = 0; i < rows; i++) {
        const real *restrict row = (const real *)x + i * n;
        for (int64_t j = 0; j < n; j++)
            to[j] += row[j];
    }
}

static void add_strips(void *ctx, int64_t begin, int64_t end)
{
    const struct strip_sums *s = ctx;
    real *restrict own = s->own;
    for (int64_t k = 0; k < s->n; k++) {
        const real *restrict apart = (const real *)s->apart + k * s->count;
        for (int64_t i = begin; i < end; i++)
            own[i] += apart[i];
    }
}

const struct mlp_rows AT_LEVEL(mlp_rows) = {activate, slopes, activate_biased, sum_rows,
                                            add_strips};
