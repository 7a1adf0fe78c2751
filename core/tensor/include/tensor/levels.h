/* SPDX-License-Identifier: MIT */
/*
 * levels.h: row functions that are compiled for several levels of the processor.
 *
 * A room's sources in levels/ are compiled once for each level, with the level's instructions and
 * with LEVEL as its name (cmake/PeatRoom.cmake). Each defines tables of functions,
 *
 *     const struct softmax_rows AT_LEVEL(softmax_rows_f32) = {...};
 *
 * which their headers declare by LEVEL_TABLE(S). Nothing else of them is seen outside, and nothing
 * of them may run but through the table for this processor. Every rounding is written out and no
 * sum depends on the width of vectors, so all levels give the same bits.
 */
#ifndef TENSOR_LEVELS_H
#define TENSOR_LEVELS_H

#include "tensor/tensor.h"

/* PEAT_VECTOR_LEVELS: whether the build makes more than the first. */
#if PEAT_VECTOR_LEVELS
enum level { LEVEL_BASE, LEVEL_V3, LEVEL_V4, LEVELS }; /* of x86-64, as its ABI numbers them */
#else
enum level { LEVEL_BASE, LEVELS };
#endif

/* The highest that this processor has and the build made. */
enum level level_here(void);

#define LEVEL_PASTE(name, level)       LEVEL_PASTE_AGAIN(name, level)
#define LEVEL_PASTE_AGAIN(name, level) name##_##level
/* The name of a table in the object file of a level. */
#define AT_LEVEL(name) LEVEL_PASTE(name, LEVEL)

/*
 * Declares tables of `struct type` called `name`, and how they are found: name_at(level) at one
 * that this processor has, name_here() at the best, or, in a source of levels/, at its own.
 */
#define LEVEL_TABLE(type, name) LEVEL_TABLE_EXPANDED(type, name)
#if PEAT_VECTOR_LEVELS
#define LEVEL_TABLE_EXPANDED(type, name)                                                           \
    extern const struct type name##_base, name##_v3, name##_v4;                                    \
    static inline const struct type *name##_at(enum level level)                                   \
    {                                                                                              \
        return level == LEVEL_V4 ? &name##_v4 : level == LEVEL_V3 ? &name##_v3 : &name##_base;     \
    }                                                                                              \
    LEVEL_TABLE_HERE(type, name)
#else
#define LEVEL_TABLE_EXPANDED(type, name)                                                           \
    extern const struct type name##_base;                                                          \
    static inline const struct type *name##_at(enum level level)                                   \
    {                                                                                              \
        (void)level;                                                                               \
        return &name##_base;                                                                       \
    }                                                                                              \
    LEVEL_TABLE_HERE(type, name)
#endif
#ifdef LEVEL
#define LEVEL_TABLE_HERE(type, name)                                                               \
    static inline const struct type *name##_here(void)                                             \
    {                                                                                              \
        return &LEVEL_PASTE(name, LEVEL);                                                          \
    }
#else
#define LEVEL_TABLE_HERE(type, name)                                                               \
    static inline const struct type *name##_here(void)                                             \
    {                                                                                              \
        return name##_at(level_here());                                                            \
    }
#endif

/* Two tables of `struct type`, type_f32 and type_f64, and type_of(dtype). */
#define LEVEL_TABLES(type)                                                                         \
    LEVEL_TABLE(type, type##_f32)                                                                  \
    LEVEL_TABLE(type, type##_f64)                                                                  \
    static inline const struct type *type##_of(peat_dtype dtype)                                   \
    {                                                                                              \
        return dtype == PEAT_F32 ? type##_f32_here() : type##_f64_here();                          \
    }

/* Sums over a row are spread over so many (tensor/lanes.inc). */
enum { LANES = 16 };

/* What constant arguments make simpler must become part of its caller. */
#define VEC_INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define VEC_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define VEC_APART _Pragma("GCC ivdep")
#endif

/* A loop over i < n whose turns do not depend on each other, though pointers might overlap. */
#define VEC_EACH(i, n) VEC_APART for (int64_t i = 0; i < (n); i++)

/* The same of a constant few turns, which the compiler would otherwise write out, element by
 * element, before it looks for vectors. */
#define VEC_LANES(i, n) _Pragma("omp simd") for (int64_t i = 0; i < (n); i++)

#endif
