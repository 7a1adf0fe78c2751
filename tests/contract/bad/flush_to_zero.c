/* SPDX-License-Identifier: MIT */
/* Does on loading what the start-up code of -ffast-math does: denormals become zero. */
#include <xmmintrin.h>

#include <peat/plugin.h>

__attribute__((constructor)) static void flush(void)
{
    _mm_setcsr(_mm_getcsr() | 0x8040);
}

static const peat_scheme scheme = {.size = sizeof(scheme)};
PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "flush_to_zero", "1.0", "a bad plugin", "MIT", "")
