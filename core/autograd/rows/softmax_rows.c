/* SPDX-License-Identifier: MIT */
/* softmax_rows.c: rows of softmax. */
#include "rows/softmax_rows.h"

#include "tensor/lanes.h"
#include "tensor/vecmath.h"

/* y = x where the mask is not 0, else -inf. */
VEC_INLINE void admit(real *y, const real *x, const real *mask, int64_t step, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        y[j] = mask[j * step] != 0 ? x[j] : (real)-INFINITY;
}

static void softmax_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct softmax *s = ctx;
    int64_t n = s->n;
    for (int64_t row = begin; row < end; row++) {
        const real *x = (const real *)s->x + row * n;
        real *y = (real *)s->y + row * n;
        if (s->mask.data) {
            const real *mask = s->mask.data;
            mask += axes_offset(&s->lead, row, s->mask.stride);
            admit(y, x, mask, s->mask.stride[s->mask.rank - 1], n);
            x = y;
        }
        real top = lane_max(x, n);
        if (top == (real)-INFINITY) { /* no key admitted: zeros, but NaN is kept */
            for (int64_t j = 0; j < n; j++)
                y[j] = x[j] == x[j] ? 0 : x[j];
            continue;
        }
        real scale = 1 / (real)AT_LEVEL(vec_rows).exp_sum(y, x, (double)top, n);
        for (int64_t j = 0; j < n; j++)
            y[j] *= scale;
    }
}

/* dx += y (dy - sum(y dy)) for y = softmax(x) */
static void softmax_grad_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct softmax *s = ctx;
    int64_t n = s->n;
    for (int64_t row = begin; row < end; row++) {
        const real *y = (const real *)s->y + row * n;
        const real *dy = (const real *)s->dy + row * n;
        real *dx = (real *)s->dx + row * n;
        real mean = lane_dot(y, dy, n);
        VEC_EACH(j, n)
            dx[j] += y[j] * (dy[j] - mean);
    }
}

const struct softmax_rows AT_LEVEL(softmax_rows) = {softmax_rows, softmax_grad_rows};
