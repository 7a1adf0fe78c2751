/* SPDX-License-Identifier: MIT */
/*
 * dots.h: small products of bf16 on the calling thread, with operands that are packed once and
 * multiplied several times.
 *
 * The processor multiplies pairs of neighbours along k and adds them to sums in F32. A left operand
 * is rows of bf16; a right one is rows of pairs, [k / 2, n, 2]. Either is packed from F32,
 * transposed or not, and rounded as bf16_round does. The packed rows are padded with 0 behind the
 * operand's last element, so odd k and any number of columns up to `width` work.
 *
 * A result's bits depend only on k and the numbers, not on m, n or the element's place.
 */
#pragma once

#include "tensor/bf16.h"

enum { DOTS_COLUMNS = 16, DOTS_STEP = 32 };

/* Whether this CPU has the instructions; otherwise no other function here may be called. */
bool dots_available(void);

/* n rounded up to a whole number of `unit`. */
static inline int64_t dots_whole(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Packs left operands from x [rows, cols], whose rows are `x_step` apart. `step`, the length of a
 * packed row, is a multiple of DOTS_STEP. to [rows, step] = x, and to [cols, step] = x'. */
void dots_rows(bf16 *to, int64_t step, const float *x, int64_t rows, int64_t cols, int64_t x_step);
void dots_rows_across(bf16 *to, int64_t step, const float *x, int64_t rows, int64_t cols,
                      int64_t x_step);

/* Packs right operands; `width`, in pairs, is a multiple of DOTS_COLUMNS. to [rows / 2, width, 2] =
 * x, and to [cols / 2, width, 2] = x', halves rounded up. */
void dots_pairs(bf16 *to, int64_t width, const float *x, int64_t rows, int64_t cols,
                int64_t x_step);
void dots_pairs_across(bf16 *to, int64_t width, const float *x, int64_t rows, int64_t cols,
                       int64_t x_step);

/* c [m,n] = alpha a b, or with `add` c += alpha a b. */
struct dots {
    int64_t m, n, k;
    const bf16 *a; /* [m, step]             */
    const bf16 *b; /* [k / 2, width, 2]; each row is readable from here on for a multiple of
                    * DOTS_COLUMNS */
    float *c;      /* rows c_step apart     */
    int64_t step, width, c_step;
    float alpha;
    bool add;
};
void dots_multiply(const struct dots *p);

/* y [n, m] = alpha x', or with `add` y += alpha x'. Each row of x [m, x_step] is readable up to a
 * multiple of DOTS_COLUMNS, and so many rows are readable. */
void dots_transpose(float *y, int64_t y_step, const float *x, int64_t m, int64_t n, int64_t x_step,
                    float alpha, bool add);

/* Stubs, with which a program for another processor links. */
#if !defined(__x86_64__)
#pragma weak dots_rows
#pragma weak dots_rows_across
#pragma weak dots_pairs
#pragma weak dots_pairs_across
#pragma weak dots_multiply
#pragma weak dots_transpose
#endif
