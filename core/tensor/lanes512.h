/* SPDX-License-Identifier: MIT */
/* lanes512.h: what kernels written for vectors of sixteen numbers of 32 bits share. */
#ifndef TENSOR_LANES512_H
#define TENSOR_LANES512_H

#include <immintrin.h>
#include <stdint.h>

#define LANES512_CPU    __attribute__((target("avx512f")))
#define LANES512_INLINE static inline __attribute__((always_inline)) LANES512_CPU

enum { LANES = 16 };

/* A loop of few rounds, known where it is compiled, over an array that is to lie in registers. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define UNROLLED(i, n, by) UNROLL for (int i = 0; i < (n); i += (by))

/* The first n of 16 lanes, n of any size. */
LANES512_INLINE __mmask16 first_lanes(int64_t n)
{
    const unsigned of_part = n <= 0 ? 0 : (1u << n % LANES) - 1;
    return (__mmask16)(n >= LANES ? 0xffff : of_part);
}

/* x [16, 16] of 32 bits becomes x'. */
LANES512_INLINE void turn(__m512i x[LANES])
{
    __m512i t[LANES];
    UNROLLED(i, LANES, 2) {
        t[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    UNROLLED(i, LANES, 4) {
        x[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    /* Now x[4 g + c] has in its quarter q the column 4 q + c of rows 4 g to 4 g + 3. */
    UNROLLED(c, 4, 1) {
        __m512i even = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88);
        __m512i odd = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xdd);
        __m512i even2 = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0x88);
        __m512i odd2 = _mm512_shuffle_i32x4(x[8 + c], x[12 + c], 0xdd);
        t[c] = _mm512_shuffle_i32x4(even, even2, 0x88);
        t[8 + c] = _mm512_shuffle_i32x4(even, even2, 0xdd);
        t[4 + c] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
        t[12 + c] = _mm512_shuffle_i32x4(odd, odd2, 0xdd);
    }
    UNROLLED(i, LANES, 1)
        x[i] = t[i];
}

/* x [8, 16] of 32 bits, whose row r has in its halves eight numbers each of the rows r and r + 4 of
 * y [16, 8] (r < 4), or of r + 4 and r + 8, becomes y'. */
LANES512_INLINE void turn_half(__m512i x[LANES / 2])
{
    __m512i t[LANES / 2];
    UNROLLED(i, LANES / 2, 2) {
        t[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    UNROLLED(i, LANES / 2, 4) {
        x[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    UNROLLED(c, LANES / 4, 1) {
        t[c] = _mm512_shuffle_i32x4(x[c], x[4 + c], 0x88);
        t[4 + c] = _mm512_shuffle_i32x4(x[c], x[4 + c], 0xdd);
    }
    UNROLLED(i, LANES / 2, 1)
        x[i] = t[i];
}

#endif
