/* SPDX-License-Identifier: MIT */
/* bf16_rows.c: the functions of bf16_rows.h, compiled for one level of instructions. */
#include "levels/bf16_rows.h"

/* Rounds to nearest, ties to even, by an addition: half a unit of the last kept bit, less one, plus
 * that bit carries exactly where the rest is more than half, or half and the bit odd. A carry out
 * of the significand raises the exponent, up to inf. A NaN could become inf or 0 by a carry, so one
 * of its kept bits is set instead. */
VEC_INLINE bf16 rounded(uint32_t x)
{
    const uint32_t infinite = 0x7f800000, magnitude = 0x7fffffff, normal = 0x00800000;
    uint32_t nearest = (x + 0x7fff + (x >> 16 & 1)) >> 16, nan = x >> 16 | 0x40;
    nearest = (x & magnitude) < normal ? x >> 31 << 15 : nearest;
    return (bf16)((x & magnitude) > infinite ? nan : nearest);
}

static void round_rows(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                       int64_t step)
{
    for (int64_t i = 0; i < rows; i++) {
        bf16 *restrict y = to + i * cols;
        const float *restrict x = from + i * step;
        for (int64_t j = 0; j < cols; j++) {
            float scaled = scale * x[j];
            uint32_t bits;
            memcpy(&bits, &scaled, sizeof(bits));
            y[j] = rounded(bits);
        }
    }
}

static void scale(float *restrict x, const bf16 *restrict by, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= bf16_value(by[i]);
}

const struct bf16_rows AT_LEVEL(bf16_rows) = {round_rows, scale};
