/* SPDX-License-Identifier: MIT */
/*
 * bf16.h: numbers of 16 bits with the exponent of F32 and 8 bits of significand.
 *
 * Two things are rounded to bf16: operands of products, and the slopes that multiply a gradient
 * before it becomes such an operand. Sums are in F32.
 */
#pragma once

#include "base/base.h"

typedef uint16_t bf16;

static inline float bf16_value(bf16 x)
{
    uint32_t bits = (uint32_t)x << 16;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Rounds to the nearest, ties to even. NaN stays NaN, numbers that are too large become inf, and
 * denormal numbers of F32 become 0, as in the CPU's products. */
void bf16_round(bf16 *to, const float *from, int64_t n);
/* Rounds scale * from: rows of `cols` elements, `step` apart, into rows without gaps. */
void bf16_round_rows(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                     int64_t step);
/* bf16_round without the CPU's own conversion. */
void bf16_round_plainly(bf16 *to, const float *from, float scale, int64_t rows, int64_t cols,
                        int64_t step);
/* x *= by */
void bf16_scale(float *x, const bf16 *by, int64_t n);
