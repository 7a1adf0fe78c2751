/* SPDX-License-Identifier: MIT */
/* levels.c: finds the level of this processor's instructions. */
#include "tensor/levels.h"

#if PEAT_VECTOR_LEVELS
/* The highest level whose instructions (cmake/PeatRoom.cmake) this processor has. The compiler's
 * library asks the processor once, when the process starts. */
enum cpu_level level_here(void)
{
    if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
          __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")))
        return LEVEL_BASE;
    if (!(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
          __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
          __builtin_cpu_supports("avx512vl")))
        return LEVEL_V3;
    return LEVEL_V4;
}
#else
enum cpu_level level_here(void)
{
    return LEVEL_BASE;
}
#endif
