/* SPDX-License-Identifier: MIT */
/* flush.h: with -DCRIME_flush_to_zero, what the start-up code of -ffast-math does. gcc 13 and later
 * leave it out of shared objects. */
#ifdef CRIME_flush_to_zero
#include <xmmintrin.h>
__attribute__((constructor)) static void flush(void)
{
    _mm_setcsr(_mm_getcsr() | 0x8040);
}
#endif
