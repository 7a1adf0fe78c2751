/* SPDX-License-Identifier: MIT */
/* levels.c: finds the level of this processor's instructions. */
#include "tensor/levels.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

/* CPU_FEATURE_ACTIVE of a number; that of the header shifts a 1 into the sign bit. */
static bool is_active(unsigned feature)
{
    enum { BITS = 32, REGISTERS = 4 };
    const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(feature / (BITS * REGISTERS));
    return leaf->active_array[feature / BITS % REGISTERS] >> feature % BITS & 1;
}

bool cpu_has_avx512(void)
{
    return is_active(x86_cpu_AVX512F) && is_active(x86_cpu_AVX512BW) &&
           is_active(x86_cpu_AVX512CD) && is_active(x86_cpu_AVX512DQ) &&
           is_active(x86_cpu_AVX512VL);
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
    if (!(is_active(x86_cpu_AVX2) && is_active(x86_cpu_FMA) && is_active(x86_cpu_BMI1) &&
          is_active(x86_cpu_BMI2)))
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
