/* SPDX-License-Identifier: MIT */
/* elementwise_rows.c: rows of the binary operations. */
#include "rows/elementwise_rows.h"

#define FORWARD(name, expression)                                                                  \
    VEC_INLINE void name##_with(const struct loop_row *row, int64_t zs, int64_t as, int64_t bs)    \
    {                                                                                              \
        real *restrict z = row->p[0];                                                              \
        const real *pa = row->p[1], *pb = row->p[2];                                               \
        for (int64_t i = 0; i < row->n; i++) {                                                     \
            const real a = pa[i * as], b = pb[i * bs];                                             \
            z[i * zs] = expression;                                                                \
        }                                                                                          \
    }                                                                                              \
    static void name(const void *ctx, const struct loop_row *row)                                  \
    {                                                                                              \
        const int64_t *s = row->stride;                                                            \
        (void)ctx;                                                                                 \
        if (s[0] == 1 && s[1] == 1 && s[2] == 1)                                                   \
            name##_with(row, 1, 1, 1);                                                             \
        else if (s[0] == 1 && s[1] == 1 && s[2] == 0)                                              \
            name##_with(row, 1, 1, 0);                                                             \
        else                                                                                       \
            name##_with(row, s[0], s[1], s[2]);                                                    \
    }

#define GRAD(name, expression)                                                                     \
    VEC_INLINE void name##_with(const struct loop_row *row, int64_t cs, int64_t zs, int64_t as,    \
                                int64_t bs, bool fresh)                                            \
    {                                                                                              \
        real *restrict c = row->p[0];                                                              \
        const real *pdz = row->p[1], *pa = row->p[2], *pb = row->p[3];                             \
        for (int64_t i = 0; i < row->n; i++) {                                                     \
            const real dz = pdz[i * zs], a = pa[i * as], b = pb[i * bs];                           \
            (void)a, (void)b;                                                                      \
            c[i * cs] = fresh ? (expression) : c[i * cs] + (expression);                           \
        }                                                                                          \
    }                                                                                              \
    static void name(const void *ctx, const struct loop_row *row)                                  \
    {                                                                                              \
        const int64_t *s = row->stride;                                                            \
        const bool fresh = *(const bool *)ctx, dense = s[0] == 1 && s[1] == 1 && s[2] == 1;        \
        if (dense && s[3] == 1 && fresh)                                                           \
            name##_with(row, 1, 1, 1, 1, true);                                                    \
        else if (dense && s[3] == 1)                                                               \
            name##_with(row, 1, 1, 1, 1, false);                                                   \
        else if (dense && s[3] == 0 && fresh)                                                      \
            name##_with(row, 1, 1, 1, 0, true);                                                    \
        else if (dense && s[3] == 0)                                                               \
            name##_with(row, 1, 1, 1, 0, false);                                                   \
        else                                                                                       \
            name##_with(row, s[0], s[1], s[2], s[3], fresh);                                       \
    }

#define BINARY(name, f, dfda, dfdb)                                                                \
    FORWARD(name##_row, f)                                                                         \
    GRAD(name##_grad_a, dfda)                                                                      \
    GRAD(name##_grad_b, dfdb)

BINARY(add, a + b, dz, dz)
BINARY(sub, a - b, dz, -dz)
BINARY(mul, a *b, dz *b, dz *a)
BINARY(div, a / b, dz / b, -dz *a / (b * b))
/* Ties go to a, in value and in gradient; NaN passes, so that divergence stays visible. */
#define TAKES_A(order) (a order b || a != a)
BINARY(minimum, TAKES_A(<=) ? a : b, TAKES_A(<=) ? dz : 0, TAKES_A(<=) ? 0 : dz)
BINARY(maximum, TAKES_A(>=) ? a : b, TAKES_A(>=) ? dz : 0, TAKES_A(>=) ? 0 : dz)

#define ROWS(name)                                                                                 \
    {                                                                                              \
        name##_row,                                                                                \
        {                                                                                          \
            name##_grad_a, name##_grad_b                                                           \
        }                                                                                          \
    }
const struct elementwise_rows AT_LEVEL(elementwise_rows) = {
    {ROWS(add), ROWS(sub), ROWS(mul), ROWS(div), ROWS(minimum), ROWS(maximum)}};
