/* SPDX-License-Identifier: MIT */
/*
 * levels.h: row functions that are compiled for several levels of the processor.
 *
 * cmake/PeatRoom.cmake compiles a room's sources in levels/ once for each level, with the level's
 * instructions and with LEVEL as its name, and those in rows/ once for each level and each real
 * type: there `real` is float or double. Each source defines tables of functions,
 *
 *     const struct softmax_rows AT_LEVEL(softmax_rows) = {...};
 *
 * which a header declares by LEVEL_TABLE (levels/) or LEVEL_TABLES (rows/). Such a source exports
 * nothing else, and its functions may run only through the table for this processor. Every rounding
 * is written out and no sum depends on the width of vectors, so all levels give the same bits.
 */
#pragma once

#include "tensor/tensor.h"

/* PEAT_VECTOR_LEVELS: whether the build compiles the levels above the first. */
#if PEAT_VECTOR_LEVELS
/* Levels of x86-64, numbered as in its ABI. */
enum cpu_level { LEVEL_BASE, LEVEL_V3, LEVEL_V4, LEVELS };
#define LEVEL_NAMES(name) name##_base, name##_v3, name##_v4
#define LEVEL_CHOICE(name, level)                                                                  \
    ((level) == LEVEL_V4 ? &name##_v4 : (level) == LEVEL_V3 ? &name##_v3 : &name##_base)
#else
enum cpu_level { LEVEL_BASE, LEVELS };
#define LEVEL_NAMES(name)         name##_base
#define LEVEL_CHOICE(name, level) ((void)(level), &name##_base)
#endif

/* These ask the C library for the instructions of cmake/PeatRoom.cmake, so what the environment
 * hides is not there: GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F holds a process at v3, and
 * -AVX512F,-AVX2 at the base. */
bool cpu_has_avx512(void);
/* The highest level that this processor has and the build compiled. */
enum cpu_level level_here(void);
/* Its name, "x86-64-v3". */
const char *level_name(void);

#define LEVEL_PASTE(name, level)       LEVEL_PASTE_AGAIN(name, level)
#define LEVEL_PASTE_AGAIN(name, level) name##_##level
/* The name of a table in the object file of a level, and of a real type in a source of rows/. */
#if PEAT_REAL == 32
typedef float real;
#define AT_LEVEL(name) LEVEL_PASTE(name##_f32, LEVEL)
#elif PEAT_REAL == 64
typedef double real;
#define AT_LEVEL(name) LEVEL_PASTE(name##_f64, LEVEL)
#else
#define AT_LEVEL(name) LEVEL_PASTE(name, LEVEL)
#endif

/* Declares tables of `struct type` called `name`, and two ways to find one: name_at(level) at a
 * level that this processor has, name_here() at the highest. */
#define LEVEL_TABLE(type, name)                                                                    \
    extern const struct type LEVEL_NAMES(name);                                                    \
    static inline const struct type *name##_at(enum cpu_level level)                               \
    {                                                                                              \
        return LEVEL_CHOICE(name, level);                                                          \
    }                                                                                              \
    static inline const struct type *name##_here(void)                                             \
    {                                                                                              \
        return name##_at(level_here());                                                            \
    }

/* The tables of `struct type` for both real types, type_f32 and type_f64, and type_of(dtype). */
#define LEVEL_TABLES(type)                                                                         \
    LEVEL_TABLE(type, type##_f32)                                                                  \
    LEVEL_TABLE(type, type##_f64)                                                                  \
    static inline const struct type *type##_of(peat_dtype dtype)                                   \
    {                                                                                              \
        return dtype == PEAT_F32 ? type##_f32_here() : type##_f64_here();                          \
    }

/* The number of lanes over which the sum of a row is spread (tensor/lanes.h). */
enum { LANES = 16 };

/* For functions that constant arguments make simpler, so they must be inlined. */
#define VEC_INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define VEC_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define VEC_APART _Pragma("GCC ivdep")
#endif

/* A loop over i < n with independent iterations, though pointers might overlap. */
#define VEC_EACH(i, n) VEC_APART for (int64_t i = 0; i < (n); i++)

/* VEC_EACH for a small constant number of iterations, which the compiler would otherwise unroll
 * into scalars before it looks for vectors. */
#define VEC_LANES(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

/* A loop of at most 16 iterations, a number known at compile time, over an array in registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define UNROLLED(i, n)        UNROLLED_BY(i, n, 1)
#define UNROLLED_BY(i, n, by) UNROLL for (int i = 0; i < (n); i += (by))
