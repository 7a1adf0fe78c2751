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

#define TEMPLATE "tensor/vecmath.inc"
#include "tensor/both_reals.inc"

#endif
