/* SPDX-License-Identifier: MIT */
/* vecmath_rows.c: exp, tanh, erf, GELU, the logistic function and its logarithm. */
#include "tensor/vecmath.h"

#include "tensor/lanes.h"

/* ---- one element ---- */

#if PEAT_REAL == 32
/* Polynomials are Chebyshev interpolants. Both sides of a choice are always computed: a branch
 * would keep the loop from vectorising. A product and the addition after it are rounded once on
 * every processor: by an instruction from x86-64-v3 on, by a library call with the same result
 * below. */
VEC_INLINE float fma_of(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* exp(x) = 2^n exp(r), n = round(x / ln 2), |r| <= ln(2)/2. ln 2 is split in two so that n times
 * the first part is exact. n is added to the exponent bits of exp(r), so no product ever becomes
 * denormal (that would cost a hundred cycles); between the bounds the sum is a normal number. */
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

/* log(1 + u) = 2 artanh(s), s = u / (2 + u), for 0 <= u <= 1: the omitted terms of the series in
 * s^2 <= 1/9 are below 2e-8 of it. */
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

/* The normal distribution function, computed from the tail on the side of x, without cancellation.
 * gauss is exp(-x^2 / 2). */
VEC_INLINE float normal_cdf(float x, float gauss)
{
    float tail = 0.5f * gauss * erfc_scaled(fabsf(x) * 0.707106781f);
    float other = 1.0f - tail;
    return x < 0.0f ? tail : other;
}

#else

VEC_INLINE double exp_one(double x)
{
    return exp(x);
}

VEC_INLINE double tanh_one(double x)
{
    return tanh(x);
}

VEC_INLINE double log1p_one(double u)
{
    return log1p(u);
}

VEC_INLINE double erf_one(double x)
{
    return erf(x);
}

VEC_INLINE double fma_of(double a, double b, double c)
{
    return a * b + c;
}

VEC_INLINE double normal_cdf(double x, double gauss)
{
    (void)gauss;
    return 0.5 * erfc(-x * sqrt(0.5));
}

#endif

VEC_INLINE real sigmoid_one(real x)
{
    return 1 / (1 + exp_one(-x));
}

/* The exponent is never positive: no overflow. */
VEC_INLINE real log_sigmoid_one(real x)
{
    return (x < 0 ? x : 0) - log1p_one(exp_one(x < 0 ? x : -x));
}

VEC_INLINE real log_sigmoid_slope(real x)
{
    return sigmoid_one(-x);
}

VEC_INLINE real softplus_one(real x)
{
    return -log_sigmoid_one(-x);
}

/* The value and the derivative, which share their exponential. */
VEC_INLINE real silu_both_one(real x, real *slope)
{
    const real s = sigmoid_one(x), y = x * s;
    *slope = s + y * (1 - s);
    return y;
}

VEC_INLINE real gelu_both_one(real x, real *slope)
{
    const real gauss = exp_one((real)-0.5 * (x * x)), cdf = normal_cdf(x, gauss);
    *slope = fma_of(x, gauss * (real)0.39894228040143267794, cdf);
    return x * cdf;
}

VEC_INLINE real gelu_tanh_both_one(real x, real *slope)
{
    const real half = (real)0.5, root_2_over_pi = (real)0.79788456080286535588;
    const real t = tanh_one(root_2_over_pi * (x + (real)0.044715 * (x * x * x)));
    const real du = root_2_over_pi * (1 + (real)0.134145 * (x * x));
    *slope = half * (1 + t) + half * x * (1 - t * t) * du;
    return half * x * (1 + t);
}

#define EITHER_OF(name)                                                                            \
    VEC_INLINE real name##_one(real x)                                                             \
    {                                                                                              \
        real slope;                                                                                \
        return name##_both_one(x, &slope);                                                         \
    }                                                                                              \
    VEC_INLINE real name##_slope(real x)                                                           \
    {                                                                                              \
        real slope;                                                                                \
        name##_both_one(x, &slope);                                                                \
        return slope;                                                                              \
    }
EITHER_OF(silu)
EITHER_OF(gelu)
EITHER_OF(gelu_tanh)

/* ---- rows ---- */

enum { CACHE_LINE = 64, PIECE = 256, AHEAD = 1024 }; /* the last two in elements */

#define MAP(name)                                                                                  \
    static void name##_row(void *to, const void *from, int64_t n)                                  \
    {                                                                                              \
        real *y = to;                                                                              \
        const real *x = from;                                                                      \
        VEC_EACH(i, n)                                                                             \
            y[i] = name##_one(x[i]);                                                               \
    }

#define GRAD(name, slope)                                                                          \
    static void name##_grad(void *to, const void *at, const void *from, int64_t n, bool fresh)     \
    {                                                                                              \
        real *dx = to;                                                                             \
        const real *x = at, *dy = from;                                                            \
        if (fresh)                                                                                 \
            VEC_EACH(i, n)                                                                         \
                dx[i] = dy[i] * slope(x[i]);                                                       \
        else                                                                                       \
            VEC_EACH(i, n)                                                                         \
                dx[i] += dy[i] * slope(x[i]);                                                      \
    }

/* Prefetches x, which the forward pass read last: this halves the time where x has left the nearer
 * caches. */
#define BOTH(name)                                                                                 \
    static void name##_both(void *to, void *slopes, const void *from, int64_t n)                   \
    {                                                                                              \
        real *restrict y = to, *restrict d = slopes;                                               \
        const real *restrict x = from;                                                             \
        for (int64_t first = 0; first < n; first += PIECE) {                                       \
            int64_t end = n - first < PIECE ? n : first + PIECE;                                   \
            for (int64_t i = first; i < end; i += CACHE_LINE / (int64_t)sizeof(real))              \
                __builtin_prefetch(x + i + AHEAD);                                                 \
            for (int64_t i = first; i < end; i++) {                                                \
                real slope, value = name##_both_one(x[i], &slope);                                 \
                y[i] = value;                                                                      \
                d[i] *= slope;                                                                     \
            }                                                                                      \
        }                                                                                          \
    }

MAP(exp)
MAP(tanh)
MAP(erf)
MAP(sigmoid)
MAP(log_sigmoid)
GRAD(log_sigmoid, log_sigmoid_slope)
MAP(softplus)
GRAD(softplus, sigmoid_one)
MAP(silu)
BOTH(silu)
MAP(gelu)
GRAD(gelu, gelu_slope)
BOTH(gelu)
MAP(gelu_tanh)
GRAD(gelu_tanh, gelu_tanh_slope)
BOTH(gelu_tanh)

/* y = exp(x - shift) for whole groups of lanes, which are added to the lanes of lane_sum. */
VEC_INLINE void exp_lanes(real *y, const real *x, real shift, int64_t n, real lane[LANES])
{
    for (int64_t first = 0; first < n; first += LANES)
        VEC_EACH(j, LANES) {
            real e = exp_one(x[first + j] - shift);
            y[first + j] = e;
            lane[j] += e;
        }
}

static double exp_sum(void *to, const void *from, double by, int64_t n)
{
    real *y = to, lane[LANES] = {0}, rest[LANES] = {0};
    const real *x = from, shift = (real)by;
    int64_t whole = n - n % LANES;
    exp_lanes(y, x, shift, whole, lane);
    if (whole < n) {
        for (int64_t i = whole; i < n; i++)
            rest[i - whole] = y[i] = exp_one(x[i] - shift);
        for (int j = 0; j < LANES; j++)
            lane[j] += rest[j];
    }
    return (double)lane_fold(lane);
}

static void exp_sums(struct exp_row *row, int64_t rows)
{
    for (int64_t r = 0; r < rows; r++) {
        real lane[LANES] = {0};
        exp_lanes(row[r].x, row[r].x, (real)row[r].shift, row[r].n, lane);
        row[r].sum = (double)lane_fold(lane);
    }
}

const struct vec_rows AT_LEVEL(vec_rows) = {
    .exp = exp_row,
    .tanh = tanh_row,
    .erf = erf_row,
    .sigmoid = sigmoid_row,
    .log_sigmoid = log_sigmoid_row,
    .log_sigmoid_grad = log_sigmoid_grad,
    .softplus = softplus_row,
    .softplus_grad = softplus_grad,
    .silu = silu_row,
    .silu_both = silu_both,
    .gelu = gelu_row,
    .gelu_grad = gelu_grad,
    .gelu_both = gelu_both,
    .gelu_tanh = gelu_tanh_row,
    .gelu_tanh_grad = gelu_tanh_grad,
    .gelu_tanh_both = gelu_tanh_both,
    .exp_sum = exp_sum,
    .exp_sums = exp_sums,
};
