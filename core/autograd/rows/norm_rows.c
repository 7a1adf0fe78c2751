/* SPDX-License-Identifier: MIT */
/* norm_rows.c: rows of layernorm, rmsnorm and normalize. */
#include "rows/norm_rows.h"

#include "tensor/lanes.h"

/* y = (x - mean) rate * w + b, each step rounded; w and b may be NULL. */
VEC_INLINE void norm_row(real *y, const real *x, real mean, real rate, const real *w, bool gain,
                         const real *b, bool offset, int64_t n)
{
    VEC_EACH(j, n) {
        const real u = (x[j] - mean) * rate, v = gain ? u * w[j] : u;
        y[j] = offset ? v + b[j] : v;
    }
}

/* y = (x - mean) rate * w + b, rate = 1 / sqrt(sum((x - mean)^2) / divisor + eps) */
static void norm_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct norm *c = ctx;
    const real *w = c->w, *b = c->b;
    int64_t n = c->n;
    for (int64_t row = begin; row < end; row++) {
        const real *x = (const real *)c->x + row * n;
        real *y = (real *)c->y + row * n;
        real mean = c->centre ? lane_sum(x, n) / (real)n : 0;
        double spread = (double)lane_squares(x, mean, n) / c->divisor;
        real rate = (real)(1.0 / sqrt(spread + c->eps));
        if (w && b)
            norm_row(y, x, mean, rate, w, true, b, true, n);
        else if (w)
            norm_row(y, x, mean, rate, w, true, NULL, false, n);
        else
            norm_row(y, x, mean, rate, NULL, false, b, b, n);
        if (c->stat) {
            ((real *)c->stat)[2 * row] = mean;
            ((real *)c->stat)[2 * row + 1] = rate;
        }
    }
}

/* dx += rate (e - shift - (x - mean) slope), e = dy w */
VEC_INLINE void add_dx(real *dx, const real *dy, const real *x, const real *w, bool gain, real mean,
                       real rate, real shift, real slope, bool fresh, int64_t n)
{
    VEC_EACH(j, n) {
        const real e = gain ? dy[j] * w[j] : dy[j];
        dx[j] = (fresh ? 0 : dx[j]) + rate * (e - shift - (x[j] - mean) * slope);
    }
}

static void grad_row(const struct norm *c, real *dx, const real *dy, const real *x, real mean,
                     real rate)
{
    const int64_t n = c->n;
    const real *w = c->w;
    const real total = w ? lane_dot(dy, w, n) : lane_sum(dy, n);
    const real shift = c->centre ? total / (real)n : 0;
    real slope = w ? lane_dot3_from(x, mean, dy, w, n) : lane_dot_from(x, mean, dy, n);
    slope *= rate * rate / (real)c->divisor; /* sum(e u) / divisor, times rate */
    if (w && c->fresh)
        add_dx(dx, dy, x, w, true, mean, rate, shift, slope, true, n);
    else if (w)
        add_dx(dx, dy, x, w, true, mean, rate, shift, slope, false, n);
    else
        add_dx(dx, dy, x, w, false, mean, rate, shift, slope, c->fresh, n);
}

/*
 * With u = (x - mean) rate and e = dy w:
 *   dx += rate (e - mean(e) - u sum(e u) / divisor), without mean(e) when there is no centre
 *   dw += dy u, db += dy; these go into the tile's own partial sums.
 */
static void norm_grad_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct norm *c = ctx;
    const int64_t n = c->n, tile = begin / c->grain;
    real *dw = c->dw ? (real *)c->dw + tile * n : NULL;
    real *db = c->db ? (real *)c->db + tile * n : NULL;
    for (int64_t row = begin; row < end; row++) {
        const real *x = (const real *)c->x + row * n, *dy = (const real *)c->dy + row * n;
        const real mean = ((const real *)c->stat)[2 * row];
        const real rate = ((const real *)c->stat)[2 * row + 1];
        if (c->dx)
            grad_row(c, (real *)c->dx + row * n, dy, x, mean, rate);
        if (dw)
            VEC_EACH(j, n)
                dw[j] += dy[j] * ((x[j] - mean) * rate);
        if (db)
            VEC_EACH(j, n)
                db[j] += dy[j];
    }
}

const struct norm_rows AT_LEVEL(norm_rows) = {norm_rows, norm_grad_rows};
