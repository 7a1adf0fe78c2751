/* SPDX-License-Identifier: MIT */
/* unary_rows.c: y = f(x) and dx += dy f'(x), or dx = dy f'(x) with `fresh`; dx may be dy. */
#include "rows/unary_rows.h"

#include <tgmath.h>

#include "tensor/vecmath.h"

#define FORWARD(name, expression)                                                                  \
    static void name##_row(const void *ctx, const struct loop_row *row)                            \
    {                                                                                              \
        const struct unary_call *call = ctx;                                                       \
        const real p = (real)call->p, q = (real)call->q;                                           \
        real *restrict py = row->p[0];                                                             \
        const real *restrict px = row->p[1];                                                       \
        const int64_t ys = row->stride[0], xs = row->stride[1];                                    \
        (void)p, (void)q;                                                                          \
        if (ys == 1 && xs == 1) {                                                                  \
            for (int64_t i = 0; i < row->n; i++) {                                                 \
                const real x = px[i];                                                              \
                py[i] = expression;                                                                \
            }                                                                                      \
        } else {                                                                                   \
            for (int64_t i = 0; i < row->n; i++) {                                                 \
                const real x = px[i * xs];                                                         \
                py[i * ys] = expression;                                                           \
            }                                                                                      \
        }                                                                                          \
    }

#define GRAD(name, expression)                                                                     \
    VEC_INLINE void name##_slopes(const struct unary_call *call, const struct loop_row *row,       \
                                  int64_t ds, int64_t zs, int64_t xs, int64_t ys, bool fresh)      \
    {                                                                                              \
        const real p = (real)call->p, q = (real)call->q;                                           \
        real *pdx = row->p[0];                                                                     \
        const real *pdy = row->p[1], *px = row->p[2], *py = row->p[3];                             \
        (void)p, (void)q;                                                                          \
        VEC_EACH(i, row->n) {                                                                      \
            const real dy = pdy[i * zs], x = px[i * xs], y = py[i * ys];                           \
            (void)dy, (void)x, (void)y;                                                            \
            pdx[i * ds] = fresh ? (expression) : pdx[i * ds] + (expression);                       \
        }                                                                                          \
    }                                                                                              \
    static void name##_grad(const void *ctx, const struct loop_row *row)                           \
    {                                                                                              \
        const struct unary_call *call = ctx;                                                       \
        const int64_t *s = row->stride;                                                            \
        if (s[0] != 1 || s[1] != 1 || s[2] != 1 || s[3] != 1)                                      \
            name##_slopes(call, row, s[0], s[1], s[2], s[3], call->fresh);                         \
        else if (call->fresh)                                                                      \
            name##_slopes(call, row, 1, 1, 1, 1, true);                                            \
        else                                                                                       \
            name##_slopes(call, row, 1, 1, 1, 1, false);                                           \
    }

/* Functions over dense rows: strided rows pass through a buffer. */
enum { BUFFER = 256 };

static void map_row(vec_map *f, const struct loop_row *row)
{
    real buffer[BUFFER], *y = row->p[0];
    const real *x = row->p[1];
    if (row->stride[0] == 1 && row->stride[1] == 1) {
        f(y, x, row->n);
        return;
    }
    for (int64_t begin = 0; begin < row->n; begin += BUFFER) {
        int64_t n = row->n - begin < BUFFER ? row->n - begin : BUFFER;
        for (int64_t i = 0; i < n; i++)
            buffer[i] = x[(begin + i) * row->stride[1]];
        f(buffer, buffer, n);
        for (int64_t i = 0; i < n; i++)
            y[(begin + i) * row->stride[0]] = buffer[i];
    }
}

static void grad_row(vec_grad *f, const struct loop_row *row, bool fresh)
{
    real bdx[BUFFER], bx[BUFFER], bdy[BUFFER], *dx = row->p[0];
    const real *dy = row->p[1], *x = row->p[2];
    if (row->stride[0] == 1 && row->stride[1] == 1 && row->stride[2] == 1) {
        f(dx, x, dy, row->n, fresh);
        return;
    }
    for (int64_t begin = 0; begin < row->n; begin += BUFFER) {
        int64_t n = row->n - begin < BUFFER ? row->n - begin : BUFFER;
        for (int64_t i = 0; i < n; i++) {
            bdx[i] = dx[(begin + i) * row->stride[0]];
            bdy[i] = dy[(begin + i) * row->stride[1]];
            bx[i] = x[(begin + i) * row->stride[2]];
        }
        f(bdx, bx, bdy, n, fresh);
        for (int64_t i = 0; i < n; i++)
            dx[(begin + i) * row->stride[0]] = bdx[i];
    }
}

#define VECTOR(name)                                                                               \
    static void name##_row(const void *ctx, const struct loop_row *row)                            \
    {                                                                                              \
        (void)ctx;                                                                                 \
        map_row(AT_LEVEL(vec_rows).name, row);                                                     \
    }

#define VECTOR_GRAD(name)                                                                          \
    static void name##_grad(const void *ctx, const struct loop_row *row)                           \
    {                                                                                              \
        grad_row(AT_LEVEL(vec_rows).name##_grad, row, ((const struct unary_call *)ctx)->fresh);    \
    }

VECTOR(exp)
GRAD(exp, dy *y)
FORWARD(log, log(x))
GRAD(log, dy / x)
FORWARD(log1p, log1p(x))
GRAD(log1p, dy / (1 + x))
FORWARD(sqrt, sqrt(x))
GRAD(sqrt, dy / (2 * y))
FORWARD(sin, sin(x))
GRAD(sin, dy *cos(x))
FORWARD(cos, cos(x))
GRAD(cos, -dy *sin(x))
VECTOR(tanh)
GRAD(tanh, dy *(1 - y * y))
VECTOR(sigmoid)
GRAD(sigmoid, dy *y *(1 - y))
VECTOR(log_sigmoid)
VECTOR_GRAD(log_sigmoid)
VECTOR(softplus)
VECTOR_GRAD(softplus)
/* NaN passes: divergence must stay visible. */
FORWARD(relu, x < 0 ? 0 : x)
GRAD(relu, x > 0 ? dy : 0)
VECTOR(gelu)
VECTOR_GRAD(gelu)
VECTOR(gelu_tanh)
VECTOR_GRAD(gelu_tanh)
FORWARD(abs, fabs(x))
GRAD(abs, x > 0 ? dy : x < 0 ? -dy : 0)
FORWARD(floor, floor(x))
FORWARD(affine, p *x + q)
GRAD(affine, p *dy)
FORWARD(clamp, x<p ? p : x> q ? q : x)
GRAD(clamp, x<p || x> q ? 0 : dy)

#define floor_grad NULL
#define ROWS(name) [UNARY_##name] = {name##_row, name##_grad}
const struct unary_rows AT_LEVEL(unary_rows) = {{UNARY_LIST(ROWS)}};
