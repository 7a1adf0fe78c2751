/* SPDX-License-Identifier: MIT */
/* bf16.c: F32 to bf16 and back. */
#include "tensor/bf16.h"

#include "levels/bf16_rows.h"
#include "tensor/dots.h"

void bf16_round_plainly(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                        int64_t step)
{
    bf16_rows_here()->round(to, from, scale, rows, cols, step);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

/* Rounds by the CPU's own conversion, with the same results. */
__attribute__((target("avx512f,avx512vl,avx512bw,avx512bf16"))) static void
round_at_once(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols, int64_t step)
{
    enum { WIDE = 16 };
    const __m512 factor = _mm512_set1_ps(scale);
    const __mmask16 last = (__mmask16)((1u << cols % WIDE) - 1);
    for (int64_t i = 0; i < rows; i++) {
        bf16 *restrict y = to + i * cols;
        const float *restrict x = from + i * step;
        int64_t j = 0;
        for (; j + WIDE <= cols; j += WIDE) {
            __m512 scaled = _mm512_mul_ps(factor, _mm512_loadu_ps(x + j));
            _mm256_storeu_si256((void *)(y + j), (__m256i)_mm512_cvtneps_pbh(scaled));
        }
        if (last != 0) {
            __m512 scaled = _mm512_mul_ps(factor, _mm512_maskz_loadu_ps(last, x + j));
            _mm256_mask_storeu_epi16(y + j, last, (__m256i)_mm512_cvtneps_pbh(scaled));
        }
    }
}
#else
#define round_at_once bf16_round_plainly
#endif

void bf16_round_rows(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                     int64_t step)
{
    if (step == cols) {
        cols *= rows;
        step = cols;
        rows = 1;
    }
    (dots_available() ? round_at_once : bf16_round_plainly)(to, from, scale, rows, cols, step);
}

void bf16_round(bf16 *to, const float *from, int64_t n)
{
    bf16_round_rows(to, from, 1.0f, 1, n, n);
}

void bf16_scale(float *x, const bf16 *by, int64_t n)
{
    bf16_rows_here()->scale(x, by, n);
}
