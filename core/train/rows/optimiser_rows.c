/* SPDX-License-Identifier: MIT */
/* optimiser_rows.c: the norm of a gradient, and an update of some elements of one weight. */
#include "rows/optimiser_rows.h"

#include <tgmath.h>

enum { NORM_LANES = 8 };

/* Lane j sums elements j, j + 8, ...; lanes are added in order. The order is fixed and can be
 * vectorised. */
static double squares(const void *numbers, int64_t n)
{
    const real *x = numbers;
    double lane[NORM_LANES] = {0.0}, sum = 0.0;
    int64_t whole = n - n % NORM_LANES;
    for (int64_t i = 0; i < whole; i += NORM_LANES)
        for (int j = 0; j < NORM_LANES; j++)
            lane[j] += (double)x[i + j] * (double)x[i + j];
    for (int64_t i = whole; i < n; i++)
        lane[i - whole] += (double)x[i] * (double)x[i];
    for (int j = 0; j < NORM_LANES; j++)
        sum += lane[j];
    return sum;
}

/*
 *   g = grad_scale * grad
 *   m = beta1 m + (1 - beta1) g,  v = beta2 v + (1 - beta2) g^2
 *   p = p - lr (m_scale m / (sqrt(v_scale v) + eps) + decay p)
 *
 * IEEE 754 rounds square root and division correctly, so vectors of any width give the bits of
 * scalars.
 */
static void update(const struct update *u, int64_t n, const void *grads, void *firsts,
                   void *seconds, void *values)
{
    const real *restrict grad = grads;
    real *restrict m = firsts, *restrict v = seconds, *restrict p = values;
    const real grad_scale = (real)u->grad_scale, eps = (real)u->eps;
    const real beta1 = (real)u->beta1, rest1 = (real)(1.0 - u->beta1);
    const real beta2 = (real)u->beta2, rest2 = (real)(1.0 - u->beta2);
    const real m_scale = (real)u->m_scale, v_scale = (real)u->v_scale;
    const real lr = (real)u->lr, decay = (real)u->decay;
    for (int64_t i = 0; i < n; i++) {
        real g = grad_scale * grad[i];
        m[i] = beta1 * m[i] + rest1 * g;
        v[i] = beta2 * v[i] + rest2 * g * g;
        p[i] -= lr * (m_scale * m[i] / (sqrt(v_scale * v[i]) + eps) + decay * p[i]);
    }
}

static void bound(void *values, int64_t n, double least, double most)
{
    const real lo = (real)least, hi = (real)most;
    real *p = values;
    for (int64_t i = 0; i < n; i++)
        p[i] = p[i] < lo ? lo : p[i] > hi ? hi : p[i];
}

const struct optimiser_rows AT_LEVEL(optimiser_rows) = {squares, update, bound};
