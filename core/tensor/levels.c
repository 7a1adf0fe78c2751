/* SPDX-License-Identifier: MIT */
/* levels.c: finds the level of this processor's instructions. */
#include "tensor/levels.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

bool cpu_has_avx512(void)
{
    return CPU_FEATURE_ACTIVE(AVX512F) && CPU_FEATURE_ACTIVE(AVX512BW) &&
           CPU_FEATURE_ACTIVE(AVX512CD) && CPU_FEATURE_ACTIVE(AVX512DQ) &&
           CPU_FEATURE_ACTIVE(AVX512VL);
}
#else
bool cpu_has_avx512(void)
{
    return false;
}
#endif

#if PEAT_VECTOR_LEVELS
enum cpu_level level_here(void)
{
    if (!(CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(FMA) && CPU_FEATURE_ACTIVE(BMI1) &&
          CPU_FEATURE_ACTIVE(BMI2)))
        return LEVEL_BASE;
    return cpu_has_avx512() ? LEVEL_V4 : LEVEL_V3;
}
#else
enum cpu_level level_here(void)
{
    return LEVEL_BASE;
}
#endif

const char *level_name(void)
{
    static const char *const name[] = {"the baseline", "x86-64-v3", "x86-64-v4"};
    return name[level_here()];
}
