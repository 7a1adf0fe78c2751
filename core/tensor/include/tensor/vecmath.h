/* SPDX-License-Identifier: MIT */
/*
 * vecmath.h: exp and its relatives over rows, fast in F32 and exact (libm) in F64.
 *
 * The F32 functions are polynomials in plain C that the compiler vectorises, built for several CPU
 * levels. Every rounding is spelled out and there is no sum, so an element's result depends neither
 * on its place in the row nor on the CPU level. y may be x, but not overlap it otherwise; n may be
 * 0. NaN gives NaN.
 *
 * Largest errors: exp 2e-7 relative; the others 5e-7 absolute per unit of |x| where they grow.
 */
#ifndef TENSOR_VECMATH_H
#define TENSOR_VECMATH_H

#include <stdint.h>

/*
 * Put before a function to have it compiled for several x86-64 levels; the loader picks. Needs the
 * indirect functions of glibc; sanitizers run before those are resolved.
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) &&   \
    !defined(PEAT_SANITIZED) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define VEC_LEVELS __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define VEC_LEVELS
#endif

/* What a function of several levels calls must become part of it, or it stays at the lowest. */
#define VEC_INLINE static inline __attribute__((always_inline))

/* y = exp(x). In F32, 0 below -87.33, where denormal results would begin, and inf above 88.72. */
void vec_exp_f32(float *y, const float *x, int64_t n);
void vec_tanh_f32(float *y, const float *x, int64_t n);
/* y = exp(x - shift); returns the sum of y, added in 16 interleaved lanes. */
float vec_exp_sum_f32(float *y, const float *x, float shift, int64_t n);
/* The same in place for short rows, where a call each would cost as much as the row: n is a
 * multiple of 16; sum is filled. */
struct exp_row_f32 {
    float *x;
    int64_t n;
    float shift, sum;
};
void vec_exp_sums_f32(struct exp_row_f32 *row, int64_t rows);
/* y = 1 / (1 + exp(-x)) */
void vec_sigmoid_f32(float *y, const float *x, int64_t n);
void vec_erf_f32(float *y, const float *x, int64_t n);

/* y = x Phi(x), Phi the normal distribution function; dx += dy (Phi(x) + x phi(x)); set: dx = ...,
 * where dx may be dy; both: y as in the first, d *= the derivative */
void vec_gelu_f32(float *y, const float *x, int64_t n);
void vec_gelu_grad_f32(float *dx, const float *x, const float *dy, int64_t n);
void vec_gelu_set_f32(float *dx, const float *x, const float *dy, int64_t n);
void vec_gelu_both_f32(float *restrict y, float *restrict d, const float *restrict x, int64_t n);
/* y = x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3);
 * dx += dy (1/2 (1 + tanh u) + x/2 (1 - tanh^2 u) u') */
void vec_gelu_tanh_f32(float *y, const float *x, int64_t n);
void vec_gelu_tanh_grad_f32(float *dx, const float *x, const float *dy, int64_t n);
void vec_gelu_tanh_set_f32(float *dx, const float *x, const float *dy, int64_t n);
void vec_gelu_tanh_both_f32(float *restrict y, float *restrict d, const float *restrict x,
                            int64_t n);

/* The same in double precision by libm. */
void vec_exp_f64(double *y, const double *x, int64_t n);
double vec_exp_sum_f64(double *y, const double *x, double shift, int64_t n);
struct exp_row_f64 {
    double *x;
    int64_t n;
    double shift, sum;
};
void vec_exp_sums_f64(struct exp_row_f64 *row, int64_t rows);
void vec_tanh_f64(double *y, const double *x, int64_t n);
void vec_sigmoid_f64(double *y, const double *x, int64_t n);
void vec_erf_f64(double *y, const double *x, int64_t n);
void vec_gelu_f64(double *y, const double *x, int64_t n);
void vec_gelu_grad_f64(double *dx, const double *x, const double *dy, int64_t n);
void vec_gelu_set_f64(double *dx, const double *x, const double *dy, int64_t n);
void vec_gelu_both_f64(double *restrict y, double *restrict d, const double *restrict x, int64_t n);
void vec_gelu_tanh_f64(double *y, const double *x, int64_t n);
void vec_gelu_tanh_grad_f64(double *dx, const double *x, const double *dy, int64_t n);
void vec_gelu_tanh_set_f64(double *dx, const double *x, const double *dy, int64_t n);
void vec_gelu_tanh_both_f64(double *restrict y, double *restrict d, const double *restrict x,
                            int64_t n);

#endif
