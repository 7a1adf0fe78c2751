/* SPDX-License-Identifier: MIT */
/*
 * custom.h: elements of a custom operation's operands and results, whatever their type.
 *
 * Kernels run in F32 when a model trains (with precision bf16 too, which rounds only products of
 * matrices) and in F64 when gradients are checked. Written with these functions, one source
 * computes in double and serves both: numbers are rounded once, when they are stored.
 */
#ifndef PEAT_CUSTOM_H
#define PEAT_CUSTOM_H

#include <peat/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number of elements of a view. */
static inline int64_t peat_count(const peat_view *v)
{
    int64_t n = 1;
    for (int32_t i = 0; i < v->shape.rank; i++)
        n *= v->shape.dim[i];
    return n;
}

/* Element i in row-major order, as a double. */
static inline double peat_load(const peat_view *v, int64_t i)
{
    if (v->dtype == PEAT_F32)
        return (double)((const float *)v->data)[i];
    return v->dtype == PEAT_F64 ? ((const double *)v->data)[i]
                                : (double)((const int32_t *)v->data)[i];
}

/* Element i of a view of indices (I32), in row-major order. */
static inline int32_t peat_load_index(const peat_view *v, int64_t i)
{
    return ((const int32_t *)v->data)[i];
}

/* Sets element i of an F32 or F64 view to x, rounded to its dtype. */
static inline void peat_store(const peat_view *v, int64_t i, double x)
{
    if (v->dtype == PEAT_F64)
        ((double *)v->data)[i] = x;
    else
        ((float *)v->data)[i] = (float)x;
}

/* Adds x to element i of a gradient; does nothing where the gradient is not wanted. */
static inline void peat_accumulate(const peat_view *v, int64_t i, double x)
{
    if (v->data)
        peat_store(v, i, peat_load(v, i) + x);
}

/* Reads n elements from i on into x [n], as doubles. */
static inline void peat_load_row(const peat_view *v, int64_t i, int64_t n, double *x)
{
    for (int64_t k = 0; k < n; k++)
        x[k] = peat_load(v, i + k);
}

/* Sets n elements from i on to x [n], rounded to the view's dtype. */
static inline void peat_store_row(const peat_view *v, int64_t i, int64_t n, const double *x)
{
    for (int64_t k = 0; k < n; k++)
        peat_store(v, i + k, x[k]);
}

/*
 * PEAT_VECTORS(f) defines f_vectors, the kernel f as it is compiled for wider vectors (x86-64-v4
 * and v3) where the CPU has them, and f elsewhere. Functions that f calls in its own file are
 * compiled anew with it: by gcc at any depth, by clang where it inlines them. It speeds up kernels
 * whose innermost loops go over adjacent numbers:
 *
 *   static void forward(const peat_op_call *c, int64_t begin, int64_t end) { ... }
 *   PEAT_VECTORS(forward)
 *   static const peat_op op = {..., .forward = forward_vectors};
 *
 * All versions compute the same bits, since no order of additions changes. This needs
 * -ffp-contract=off, which the templates of plugins set.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define PEAT_VECTORS(f)                                                                            \
    __attribute__((target("arch=x86-64-v4"), flatten)) static void f##_v4(                         \
        const peat_op_call *c, int64_t begin, int64_t end)                                         \
    {                                                                                              \
        f(c, begin, end);                                                                          \
    }                                                                                              \
    __attribute__((target("arch=x86-64-v3"), flatten)) static void f##_v3(                         \
        const peat_op_call *c, int64_t begin, int64_t end)                                         \
    {                                                                                              \
        f(c, begin, end);                                                                          \
    }                                                                                              \
    static void f##_vectors(const peat_op_call *c, int64_t begin, int64_t end)                     \
    {                                                                                              \
        const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&         \
                        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");           \
        const bool v4 = v3 && __builtin_cpu_supports("avx512f") &&                                 \
                        __builtin_cpu_supports("avx512bw") &&                                      \
                        __builtin_cpu_supports("avx512cd") &&                                      \
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");  \
        (v4 ? f##_v4 : v3 ? f##_v3 : f)(c, begin, end);                                            \
    }
#else
#define PEAT_VECTORS(f)                                                                            \
    static void f##_vectors(const peat_op_call *c, int64_t begin, int64_t end)                     \
    {                                                                                              \
        f(c, begin, end);                                                                          \
    }
#endif

#ifdef __cplusplus
}
#endif
#endif
