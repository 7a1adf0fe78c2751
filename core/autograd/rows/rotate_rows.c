/* SPDX-License-Identifier: MIT */
/* rotate_rows.c: rows of rotate and its gradients. Operands are seen as pairs: a row walks over the
 * first components, and the second ones are at a fixed distance. */
#include "rows/rotate_rows.h"

/* (y1, y2) = (x1 cos - x2 sin, x1 sin + x2 cos), or back: += with the opposite angle. Tensors: y,
 * x, cos, sin */
VEC_INLINE void turn_pairs(const struct loop_row *row, const struct rotate *c, bool back,
                           int64_t ys, int64_t xs, int64_t cs, int64_t ss)
{
    real *y1 = row->p[0], *y2 = y1 + c->second[0];
    const real *x1 = row->p[1], *x2 = x1 + c->second[1];
    const real *cosine = row->p[2], *sine = row->p[3];
    VEC_EACH(i, row->n) {
        const real a = x1[i * xs], b = x2[i * xs], u = cosine[i * cs];
        const real w = back ? -sine[i * ss] : sine[i * ss];
        y1[i * ys] = back ? y1[i * ys] + (a * u - b * w) : a * u - b * w;
        y2[i * ys] = back ? y2[i * ys] + (b * u + a * w) : a * w + b * u;
    }
}

/* The strides that occur are passed as constants, so that these loops vectorise. */
VEC_INLINE void turn_row(const struct loop_row *row, const struct rotate *c, bool back)
{
    const int64_t *s = row->stride;
    const bool dense = s[2] == 1 && s[3] == 1;
    if (dense && s[0] == 1 && s[1] == 1)
        turn_pairs(row, c, back, 1, 1, 1, 1);
    else if (dense && s[0] == 2 && s[1] == 2)
        turn_pairs(row, c, back, 2, 2, 1, 1);
    else
        turn_pairs(row, c, back, s[0], s[1], s[2], s[3]);
}

static void rotate_row(const void *ctx, const struct loop_row *row)
{
    turn_row(row, ctx, false);
}

static void unrotate_row(const void *ctx, const struct loop_row *row)
{
    turn_row(row, ctx, true);
}

/* dcos += dy1 x1 + dy2 x2, or dsin += dy2 x1 - dy1 x2; tensors: dcos or dsin, dy, x */
VEC_INLINE void angle_row(const struct loop_row *row, const struct rotate *c, bool sine)
{
    real *sum = row->p[0];
    const real *y = row->p[1], *x = row->p[2];
    for (int64_t i = 0; i < row->n; i++, y += row->stride[1], x += row->stride[2]) {
        const real y1 = y[0], y2 = y[c->second[1]], x1 = x[0], x2 = x[c->second[2]];
        sum[i * row->stride[0]] += sine ? y2 * x1 - y1 * x2 : y1 * x1 + y2 * x2;
    }
}

static void cosine_grad_row(const void *ctx, const struct loop_row *row)
{
    angle_row(row, ctx, false);
}

static void sine_grad_row(const void *ctx, const struct loop_row *row)
{
    angle_row(row, ctx, true);
}

const struct rotate_rows AT_LEVEL(rotate_rows) = {rotate_row, unrotate_row, cosine_grad_row,
                                                  sine_grad_row};
