/* SPDX-License-Identifier: MIT */
/* vecmath_rows.c: exp, tanh, erf, GELU, the logistic function and its logarithm, at a level. */
#include "tensor/vecmath.h"

#include <math.h>
#include <string.h>

#define TEMPLATE "tensor/lanes.inc"
#include "tensor/both_reals.inc"

/*
 * One element each. Polynomials are Chebyshev interpolants, lowest power first in the names.
 * Both sides of a choice are always computed: a branch would keep the loop from vectorising.
 * Where a product is added to something it is rounded once, everywhere: an instruction from
 * x86-64-v3 on, a library call with the same result below.
 */
VEC_INLINE float fma_of(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/*
 * exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. ln 2 is split in two so that n times
 * the first part is exact. n is added to the exponent bits of exp(r), so no product ever becomes
 * denormal (that would cost a hundred cycles); between the bounds the sum is a normal number.
 */
VEC_INLINE float exp_one(float x)
{
    const float lowest = -87.33f, highest = 88.72f;
    const float shifter = 12582912.0f; /* 1.5 * 2^23: adding it rounds, n is in the low bits */
    float shifted = fma_of(x, 1.44269504f, shifter);
    float n = shifted - shifter;
    float r = fma_of(n, 2.12194440e-4f, fma_of(n, -0.693359375f, x));
    float p = 1.392617612e-3f;
    p = fma_of(p, r, 8.363173075e-3f);
    p = fma_of(p, r, 4.166655466e-2f);
    p = fma_of(p, r, 1.666657703e-1f);
    p = fma_of(p, r, 0.5f);
    p = fma_of(p, r * r, r) + 1.0f;
    uint32_t exponent, bits;
    memcpy(&exponent, &shifted, sizeof(exponent));
    memcpy(&bits, &p, sizeof(bits));
    bits += exponent << 23;
    float y, beyond = x + INFINITY; /* keeps NaN */
    memcpy(&y, &bits, sizeof(y));
    y = x < lowest ? 0.0f : y;
    return x <= highest ? y : beyond;
}

/* 1 - 2 / (exp(2|x|) + 1) with the sign of x; near 0 an odd polynomial keeps the relative error. */
VEC_INLINE float tanh_one(float x)
{
    float a = fabsf(x), u = x * x;
    float far = 1.0f - 2.0f / (exp_one(2.0f * a) + 1.0f);
    float p = -6.096714166e-3f;
    p = fma_of(p, u, 2.0997179e-2f);
    p = fma_of(p, u, -5.385090958e-2f);
    p = fma_of(p, u, 1.333276974e-1f);
    p = fma_of(p, u, -3.333332894e-1f);
    float near = fma_of(a, u * p, a);
    return copysignf(a < 0.625f ? near : far, x);
}

VEC_INLINE float sigmoid_one(float x)
{
    return 1.0f / (1.0f + exp_one(-x));
}

/* log(1 + u) = 2 artanh(s), s = u / (2 + u), for 0 <= u <= 1: of its series in s^2 <= 1/9 what is
 * left is below 2e-8 of it. */
VEC_INLINE float log1p_one(float u)
{
    float s = u / (2.0f + u), z = s * s;
    float p = 1.0f / 13.0f;
    p = fma_of(p, z, 1.0f / 11.0f);
    p = fma_of(p, z, 1.0f / 9.0f);
    p = fma_of(p, z, 1.0f / 7.0f);
    p = fma_of(p, z, 1.0f / 5.0f);
    p = fma_of(p, z, 1.0f / 3.0f);
    return 2.0f * fma_of(s, z * p, s);
}

/* The exponent is never positive: no overflow. */
VEC_INLINE float log_sigmoid_one(float x)
{
    float low = x < 0.0f ? x : 0.0f;
    return low - log1p_one(exp_one(-fabsf(x)));
}

VEC_INLINE float log_sigmoid_grad_one(float x)
{
    return sigmoid_one(-x);
}

VEC_INLINE float softplus_one(float x)
{
    return -log_sigmoid_one(-x);
}

/* erfc(a) / exp(-a^2) for a >= 0, as t P(t) with t = 1 / (1 + 0.4 a): the form of Hastings 1955. */
VEC_INLINE float erfc_scaled(float a)
{
    float t = 1.0f / fma_of(0.4f, a, 1.0f);
    float p = 5.125693553e-2f;
    p = fma_of(p, t, -1.871826932e-1f);
    p = fma_of(p, t, 1.766641789e-1f);
    p = fma_of(p, t, -1.27167801e-2f);
    p = fma_of(p, t, 1.452241215e-1f);
    p = fma_of(p, t, 1.673948558e-1f);
    p = fma_of(p, t, 2.080273447e-1f);
    p = fma_of(p, t, 2.256559825e-1f);
    p = fma_of(p, t, 2.256761833e-1f);
    return p * t;
}

VEC_INLINE float erf_one(float x)
{
    float a = fabsf(x), u = x * x;
    float far = fma_of(-exp_one(-u), erfc_scaled(a), 1.0f);
    float p = 4.719082567e-3f;
    p = fma_of(p, u, -2.675773274e-2f);
    p = fma_of(p, u, 1.128283143e-1f);
    p = fma_of(p, u, -3.761260901e-1f);
    p = fma_of(p, u, 1.128379166f);
    return copysignf(a < 0.5f ? a * p : far, x);
}

/* The normal distribution function, from the tail on the side of x: no cancellation. gauss is
 * exp(-x^2 / 2). */
VEC_INLINE float normal_cdf(float x, float gauss)
{
    float tail = 0.5f * gauss * erfc_scaled(fabsf(x) * 0.707106781f);
    float other = 1.0f - tail;
    return x < 0.0f ? tail : other;
}

VEC_INLINE float gelu_one(float x)
{
    return x * normal_cdf(x, exp_one(-0.5f * (x * x)));
}

/* gelu_one and its derivative, which share their exponential. */
VEC_INLINE float gelu_both_one(float x, float *slope)
{
    float gauss = exp_one(-0.5f * (x * x)), cdf = normal_cdf(x, gauss);
    *slope = fma_of(x, gauss * 0.398942280f, cdf);
    return x * cdf;
}

VEC_INLINE float gelu_grad_one(float x)
{
    float slope;
    gelu_both_one(x, &slope);
    return slope;
}

VEC_INLINE float gelu_tanh_both_one(float x, float *slope)
{
    float t = tanh_one(0.797884561f * (x + 0.044715f * (x * x * x)));
    float du = 0.797884561f * (1.0f + 0.134145f * (x * x));
    *slope = 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * du;
    return 0.5f * x * (1.0f + t);
}

VEC_INLINE float gelu_tanh_one(float x)
{
    float slope;
    return gelu_tanh_both_one(x, &slope);
}

VEC_INLINE float gelu_tanh_grad_one(float x)
{
    float slope;
    gelu_tanh_both_one(x, &slope);
    return slope;
}

/* The same in double precision. */

static double sigmoid_exact(double x)
{
    return 1.0 / (1.0 + exp(-x));
}

static double log_sigmoid_exact(double x)
{
    return (x < 0.0 ? x : 0.0) - log1p(exp(-fabs(x)));
}

static double log_sigmoid_grad_exact(double x)
{
    return sigmoid_exact(-x);
}

static double softplus_exact(double x)
{
    return -log_sigmoid_exact(-x);
}

static double normal_cdf_exact(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}

static double gelu_exact(double x)
{
    return x * normal_cdf_exact(x);
}

static double gelu_grad_exact(double x)
{
    const double inverse_root_2pi = 0.39894228040143267794;
    return normal_cdf_exact(x) + x * exp(-0.5 * x * x) * inverse_root_2pi;
}

static const double root_2_over_pi = 0.79788456080286535588;

static double gelu_tanh_exact(double x)
{
    return 0.5 * x * (1.0 + tanh(root_2_over_pi * (x + 0.044715 * x * x * x)));
}

static double gelu_tanh_grad_exact(double x)
{
    double t = tanh(root_2_over_pi * (x + 0.044715 * x * x * x));
    double du = root_2_over_pi * (1.0 + 3.0 * 0.044715 * x * x);
    return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * du;
}

static double gelu_both_exact(double x, double *slope)
{
    *slope = gelu_grad_exact(x);
    return gelu_exact(x);
}

static double gelu_tanh_both_exact(double x, double *slope)
{
    *slope = gelu_tanh_grad_exact(x);
    return gelu_tanh_exact(x);
}

enum { CACHE_LINE = 64, PIECE = 256, AHEAD = 1024 }; /* the last two in elements */

/* The rows. Operands are the same or disjoint, hence ivdep. */

#define ROW_MAP(real, name, one)                                                                   \
    static void name(real *y, const real *x, int64_t n)                                            \
    {                                                                                              \
        VEC_EACH(i, n)                                                                             \
            y[i] = one(x[i]);                                                                      \
    }

#define ROW_GRAD(real, name, one, OP)                                                              \
    static void name(real *dx, const real *x, const real *dy, int64_t n)                           \
    {                                                                                              \
        VEC_EACH(i, n)                                                                             \
            dx[i] OP dy[i] * one(x[i]);                                                            \
    }

#define ROW_GRADS(real, name, suffix, one)                                                         \
    ROW_GRAD(real, name##_grad_##suffix, one, +=)                                                  \
    ROW_GRAD(real, name##_set_##suffix, one, =)

/* y = f(x), d *= f'(x). x was last seen in the forward pass: it is asked for ahead of time, which
 * halves the time where it has left the nearer caches. */
#define ROW_BOTH(real, name, both)                                                                 \
    static void name(real *restrict y, real *restrict d, const real *restrict x, int64_t n)        \
    {                                                                                              \
        for (int64_t first = 0; first < n; first += PIECE) {                                       \
            int64_t end = n - first < PIECE ? n : first + PIECE;                                   \
            for (int64_t i = first; i < end; i += CACHE_LINE / (int64_t)sizeof(real))              \
                __builtin_prefetch(x + i + AHEAD);                                                 \
            for (int64_t i = first; i < end; i++) {                                                \
                real slope, value = both(x[i], &slope);                                            \
                y[i] = value;                                                                      \
                d[i] *= slope;                                                                     \
            }                                                                                      \
        }                                                                                          \
    }

ROW_MAP(float, exp_f32, exp_one)
ROW_MAP(float, tanh_f32, tanh_one)
ROW_MAP(float, sigmoid_f32, sigmoid_one)
ROW_MAP(float, log_sigmoid_f32, log_sigmoid_one)
ROW_GRADS(float, log_sigmoid, f32, log_sigmoid_grad_one)
ROW_MAP(float, softplus_f32, softplus_one)
ROW_GRADS(float, softplus, f32, sigmoid_one)
ROW_MAP(float, erf_f32, erf_one)
ROW_MAP(float, gelu_f32, gelu_one)
ROW_GRADS(float, gelu, f32, gelu_grad_one)
ROW_MAP(float, gelu_tanh_f32, gelu_tanh_one)
ROW_GRADS(float, gelu_tanh, f32, gelu_tanh_grad_one)

ROW_MAP(double, exp_f64, exp)
ROW_MAP(double, tanh_f64, tanh)
ROW_MAP(double, sigmoid_f64, sigmoid_exact)
ROW_MAP(double, log_sigmoid_f64, log_sigmoid_exact)
ROW_GRADS(double, log_sigmoid, f64, log_sigmoid_grad_exact)
ROW_MAP(double, softplus_f64, softplus_exact)
ROW_GRADS(double, softplus, f64, sigmoid_exact)
ROW_MAP(double, erf_f64, erf)
ROW_MAP(double, gelu_f64, gelu_exact)
ROW_GRADS(double, gelu, f64, gelu_grad_exact)
ROW_MAP(double, gelu_tanh_f64, gelu_tanh_exact)
ROW_GRADS(double, gelu_tanh, f64, gelu_tanh_grad_exact)

ROW_BOTH(float, gelu_both_f32, gelu_both_one)
ROW_BOTH(float, gelu_tanh_both_f32, gelu_tanh_both_one)
ROW_BOTH(double, gelu_both_f64, gelu_both_exact)
ROW_BOTH(double, gelu_tanh_both_f64, gelu_tanh_both_exact)

/* y = exp(x - shift) for whole groups of lanes, added to those of lane_sum. */
VEC_INLINE void exp_lanes(float *y, const float *x, float shift, int64_t n, float lane[LANES])
{
    for (int64_t first = 0; first < n; first += LANES)
        VEC_EACH(j, LANES) {
            float e = exp_one(x[first + j] - shift);
            y[first + j] = e;
            lane[j] += e;
        }
}

static float exp_sum_f32(float *y, const float *x, float shift, int64_t n)
{
    float lane[LANES] = {0}, rest[LANES] = {0};
    int64_t whole = n - n % LANES;
    exp_lanes(y, x, shift, whole, lane);
    if (whole < n) {
        for (int64_t i = whole; i < n; i++)
            rest[i - whole] = y[i] = exp_one(x[i] - shift);
        for (int j = 0; j < LANES; j++)
            lane[j] += rest[j];
    }
    return lane_fold_f32(lane);
}

static void exp_sums_f32(struct exp_row_f32 *row, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        float lane[LANES] = {0};
        exp_lanes(row[r].x, row[r].x, row[r].shift, row[r].n, lane);
        row[r].sum = lane_fold_f32(lane);
    }
}

static double exp_sum_f64(double *y, const double *x, double shift, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = exp(x[i] - shift);
    return lane_sum_f64(y, n);
}

static void exp_sums_f64(struct exp_row_f64 *row, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++)
        row[r].sum = exp_sum_f64(row[r].x, row[r].x, row[r].shift, row[r].n);
}

#define TEMPLATE "levels/vecmath_rows.inc"
#include "tensor/both_reals.inc"
