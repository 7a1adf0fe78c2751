/* SPDX-License-Identifier: MIT */
/*
 * rotate_rows.c: rows of rotate and its gradients. Operands are seen as pairs: a row
 * walks over the first components, the second ones stand a fixed distance away.
 */
#include "rows/rotate_rows.h"

/* (y1, y2) = (x1 cos - x2 sin, x1 sin + x2 cos); tensors: y, x, cos, sin */
VEC_INLINE void rotate_pairs(const struct loop_row *row, const struct rotate *c, int64_t ys,
                             int64_t xs, int64_t as)
{
    real *y1 = row->p[0], *y2 = y1 + c->second[0];
    const real *x1 = row->p[1], *x2 = x1 + c->second[1];
    const real *cosine = row->p[2], *sine = row->p[3];
    VEC_EACH(i, row->n) {
        real a = x1[i * xs], b = x2[i * xs], u = cosine[i * as], w = sine[i * as];
        y1[i * ys] = a * u - b * w;
        y2[i * ys] = a * w + b * u;
    }
}

/* (dx1, dx2) += (dy1 cos + dy2 sin, dy2 cos - dy1 sin); tensors: dx, dy, cos, sin */
VEC_INLINE void unrotate_pairs(const struct loop_row *row, const struct rotate *c, int64_t xs,
                               int64_t ys, int64_t as)
{
    real *x1 = row->p[0], *x2 = x1 + c->second[0];
    const real *y1 = row->p[1], *y2 = y1 + c->second[1];
    const real *cosine = row->p[2], *sine = row->p[3];
    VEC_EACH(i, row->n) {
        real a = y1[i * ys], b = y2[i * ys], u = cosine[i * as], w = sine[i * as];
        x1[i * xs] += a * u + b * w;
        x2[i * xs] += b * u - a * w;
    }
}

/* The strides that occur are made constants, so that these loops vectorise. */
#define ROTATE_ROW(name, pairs)                                                                    \
    static void name(const void *ctx, const struct loop_row *row)                                  \
    {                                                                                              \
        const int64_t *s = row->stride;                                                            \
        bool dense = s[2] == 1 && s[3] == 1;                                                       \
        if (dense && s[0] == 1 && s[1] == 1)                                                       \
            pairs(row, ctx, 1, 1, 1);                                                              \
        else if (dense && s[0] == 2 && s[1] == 2)                                                  \
            pairs(row, ctx, 2, 2, 1);                                                              \
        else if (s[2] == s[3])                                                                     \
            pairs(row, ctx, s[0], s[1], s[2]);                                                     \
        else                                                                                       \
            name##_apart(row, ctx);                                                                \
    }

/* Cosine and sine of different strides: element by element. */
#define ROTATE_APART(name, pairs)                                                                  \
    static void name##_apart(const struct loop_row *row, const void *ctx)                          \
    {                                                                                              \
        struct loop_row one = *row;                                                                \
        one.n = 1;                                                                                 \
        for (int64_t i = 0; i < row->n; i++) {                                                     \
            for (int k = 0; k < 4; k++)                                                            \
                one.p[k] = (real *)row->p[k] + i * row->stride[k];                                 \
            pairs(&one, ctx, 0, 0, 0);                                                             \
        }                                                                                          \
    }

ROTATE_APART(rotate_row, rotate_pairs)
ROTATE_APART(unrotate_row, unrotate_pairs)
ROTATE_ROW(rotate_row, rotate_pairs)
ROTATE_ROW(unrotate_row, unrotate_pairs)
#undef ROTATE_ROW
#undef ROTATE_APART

/* dcos += dy1 x1 + dy2 x2; tensors: dcos, dy, x */
static void cosine_grad_row(const void *ctx, const struct loop_row *row)
{
    const struct rotate *c = ctx;
    real *sum = row->p[0];
    const real *y = row->p[1], *x = row->p[2];
    for (int64_t i = 0; i < row->n; i++, y += row->stride[1], x += row->stride[2])
        sum[i * row->stride[0]] += y[0] * x[0] + y[c->second[1]] * x[c->second[2]];
}

/* dsin += dy2 x1 - dy1 x2; tensors: dsin, dy, x */
static void sine_grad_row(const void *ctx, const struct loop_row *row)
{
    const struct rotate *c = ctx;
    real *sum = row->p[0];
    const real *y = row->p[1], *x = row->p[2];
    for (int64_t i = 0; i < row->n; i++, y += row->stride[1], x += row->stride[2])
        sum[i * row->stride[0]] += y[c->second[1]] * x[0] - y[0] * x[c->second[2]];
}

const struct rotate_rows AT_LEVEL(rotate_rows) = {rotate_row, unrotate_row, cosine_grad_row,
                                                  sine_grad_row};
