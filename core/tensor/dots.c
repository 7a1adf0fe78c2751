/* SPDX-License-Identifier: MIT */
/* dots.c: packs operands into bf16 and multiplies them, tile by tile in registers. */
#include "tensor/dots.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <immintrin.h>
#include <sys/platform/x86.h>

#include "tensor/levels.h"

#define DOTS_CPU    __attribute__((target("avx512f,avx512vl,avx512bw,avx512bf16")))
#define DOTS_INLINE static inline __attribute__((always_inline)) DOTS_CPU

/* A mask of the first n of 16 lanes, for any n. */
DOTS_INLINE __mmask16 first_lanes(int64_t n)
{
    const unsigned of_part = n <= 0 ? 0 : (1u << n % LANES) - 1;
    return (__mmask16)(n >= LANES ? 0xffff : of_part);
}

/* Transposes x [16, 16] of 32 bits. */
DOTS_INLINE void turn(__m512i x[LANES])
{
    __m512i t[LANES];
    UNROLLED_BY(i, LANES, 2)
    {
        t[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    UNROLLED_BY(i, LANES, 4)
    {
        x[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    /* Now x[4 g + c] has in its quarter q the column 4 q + c of rows 4 g to 4 g + 3. */
    UNROLLED(c, 4) {
        __m512i even = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88);
        __m512i odd = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xdd);
        __m512i even2 = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0x88);
        __m512i odd2 = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0xdd);
        t[c] = _mm512_shuffle_i32x4(even, even2, 0x88);
        t[8 + c] = _mm512_shuffle_i32x4(even, even2, 0xdd);
        t[4 + c] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
        t[12 + c] = _mm512_shuffle_i32x4(odd, odd2, 0xdd);
    }
    UNROLLED(i, LANES)
        x[i] = t[i];
}

bool dots_available(void)
{
    return cpu_has_avx512() && CPU_FEATURE_ACTIVE(AVX512_BF16);
}

_Static_assert((int)LANES == (int)DOTS_COLUMNS, "columns are packed by whole vectors");

/* ---- packing ---- */

/* Sixteen numbers of row `row` from column j on; 0 outside of x [rows, cols]. */
DOTS_INLINE __m512 sixteen(const float *x, int64_t row, int64_t j, int64_t rows, int64_t cols,
                           int64_t step)
{
    __mmask16 lanes = row < rows ? first_lanes(cols - j) : (__mmask16)0;
    return lanes != 0 ? _mm512_maskz_loadu_ps(lanes, x + row * step + j) : _mm512_setzero_ps();
}

/* Pairs of neighbours in a row: 32 columns. */
DOTS_INLINE __m512i pairs_along(const float *x, int64_t row, int64_t j, int64_t rows, int64_t cols,
                                int64_t step)
{
    return (__m512i)_mm512_cvtne2ps_pbh(sixteen(x, row, j + LANES, rows, cols, step),
                                        sixteen(x, row, j, rows, cols, step));
}

/* Pairs of neighbours in a column: 16 columns of rows `row` and the next. */
DOTS_INLINE __m512i pairs_down(const float *x, int64_t row, int64_t j, int64_t rows, int64_t cols,
                               int64_t step)
{
    __m256i low = (__m256i)_mm512_cvtneps_pbh(sixteen(x, row, j, rows, cols, step));
    __m256i high = (__m256i)_mm512_cvtneps_pbh(sixteen(x, row + 1, j, rows, cols, step));
    return _mm512_or_si512(_mm512_cvtepu16_epi32(low),
                           _mm512_slli_epi32(_mm512_cvtepu16_epi32(high), 16));
}

DOTS_CPU void dots_rows(bf16 *to, int64_t step, const float *x, int64_t rows, int64_t cols,
                        int64_t x_step)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < step; j += 2 * LANES)
            _mm512_storeu_si512(to + i * step + j, pairs_along(x, i, j, rows, cols, x_step));
}

DOTS_CPU void dots_pairs(bf16 *to, int64_t width, const float *x, int64_t rows, int64_t cols,
                         int64_t x_step)
{
    for (int64_t i = 0; i < rows; i += 2)
        for (int64_t j = 0; j < width; j += LANES)
            _mm512_storeu_si512(to + i * width + 2 * j, pairs_down(x, i, j, rows, cols, x_step));
}

DOTS_CPU void dots_rows_across(bf16 *to, int64_t step, const float *x, int64_t rows, int64_t cols,
                               int64_t x_step)
{
    __m512i block[LANES];
    for (int64_t i = 0; i < step; i += 2 * LANES)
        for (int64_t j = 0; j < cols; j += LANES) {
            UNROLLED(r, LANES)
                block[r] = pairs_down(x, i + 2 * r, j, rows, cols, x_step);
            turn(block);
            for (int c = 0; c < LANES && j + c < cols; c++)
                _mm512_storeu_si512(to + (j + c) * step + i, block[c]);
        }
}

DOTS_CPU void dots_pairs_across(bf16 *to, int64_t width, const float *x, int64_t rows, int64_t cols,
                                int64_t x_step)
{
    __m512i block[LANES];
    const int64_t pairs = (cols + 1) / 2;
    for (int64_t i = 0; i < width; i += LANES)
        for (int64_t j = 0; j < pairs; j += LANES) {
            UNROLLED(r, LANES)
                block[r] = pairs_along(x, i + r, 2 * j, rows, cols, x_step);
            turn(block);
            for (int c = 0; c < LANES && j + c < pairs; c++)
                _mm512_storeu_si512(to + 2 * ((j + c) * width + i), block[c]);
        }
}

/* ---- products ---- */

enum { ROWS_MOST = 8, VECTORS_MOST = 4 };

/* A pair of a left operand, copied into all lanes. */
DOTS_INLINE __m512bh spread(const bf16 *pair)
{
    int32_t both;
    memcpy(&both, pair, sizeof(both));
    return (__m512bh)_mm512_set1_epi32(both);
}

/* Computes rows [i, i + rows) and `vectors` times 16 columns from j on, the last 16 in part. */
DOTS_INLINE void tile(const struct dots *p, int64_t i, int64_t j, __mmask16 last, const int rows,
                      const int vectors)
{
    __m512 sum[ROWS_MOST][VECTORS_MOST];
    const bf16 *a = p->a + i * p->step, *b = p->b + 2 * j;
    UNROLLED(r, rows)
        UNROLLED(v, vectors)
            sum[r][v] = _mm512_setzero_ps();
    for (int64_t k = 0; k < p->k; k += 2) {
        __m512bh right[VECTORS_MOST];
        UNROLLED(v, vectors)
            right[v] = (__m512bh)_mm512_loadu_si512(b + k * p->width + 2 * LANES * v);
        UNROLLED(r, rows) {
            __m512bh left = spread(a + r * p->step + k);
            UNROLLED(v, vectors)
                sum[r][v] = _mm512_dpbf16_ps(sum[r][v], left, right[v]);
        }
    }
    const __m512 alpha = _mm512_set1_ps(p->alpha);
    UNROLLED(r, rows)
        UNROLLED(v, vectors) {
            __mmask16 lanes = v == vectors - 1 ? last : (__mmask16)0xffff;
            float *c = p->c + (i + r) * p->c_step + j + v * LANES;
            __m512 y = _mm512_mul_ps(alpha, sum[r][v]);
            if (p->add)
                y = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, c), y);
            _mm512_mask_storeu_ps(c, lanes, y);
        }
}

/* Computes all rows of some columns. Wide tiles have few rows, because registers are few. */
#define STRIPE(name, rows, vectors)                                                                \
    DOTS_CPU static void name(const struct dots *p, int64_t j, __mmask16 last)                     \
    {                                                                                              \
        int64_t i = 0;                                                                             \
        for (; i + (rows) <= p->m; i += (rows))                                                    \
            tile(p, i, j, last, rows, vectors);                                                    \
        for (; i < p->m; i++)                                                                      \
            tile(p, i, j, last, 1, vectors);                                                       \
    }
STRIPE(stripe_of_16, 8, 1)
STRIPE(stripe_of_32, 8, 2)
STRIPE(stripe_of_48, 4, 3)
STRIPE(stripe_of_64, 4, 4)

DOTS_CPU void dots_multiply(const struct dots *p)
{
    static void (*const stripe[])(const struct dots *, int64_t, __mmask16) = {
        stripe_of_16, stripe_of_32, stripe_of_48, stripe_of_64};
    for (int64_t j = 0; j < p->n;) {
        int64_t left = (p->n - j + LANES - 1) / LANES;
        int64_t vectors = left < VECTORS_MOST ? left : VECTORS_MOST;
        stripe[vectors - 1](p, j, first_lanes(p->n - j - (vectors - 1) * LANES));
        j += vectors * LANES;
    }
}

DOTS_CPU void dots_transpose(float *y, int64_t y_step, const float *x, int64_t m, int64_t n,
                             int64_t x_step, float alpha, bool add)
{
    __m512i block[LANES];
    const __m512 factor = _mm512_set1_ps(alpha);
    for (int64_t j = 0; j < n; j += LANES)
        for (int64_t i = 0; i < m; i += LANES) {
            __mmask16 lanes = first_lanes(m - i);
            UNROLLED(r, LANES)
                block[r] = _mm512_loadu_si512(x + (i + r) * x_step + j);
            turn(block);
            for (int c = 0; c < LANES && j + c < n; c++) {
                float *to = y + (j + c) * y_step + i;
                __m512 z = _mm512_mul_ps(factor, (__m512)block[c]);
                if (add)
                    z = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), z);
                _mm512_mask_storeu_ps(to, lanes, z);
            }
        }
}

#else

bool dots_available(void)
{
    return false;
}

#endif
