/* SPDX-License-Identifier: MIT */
/* gradient_rows.c: the sum of squares. */
#include "rows/gradient_rows.h"

enum { NORM_LANES = 8 };

/* Lane j takes elements j, j + 8, ...; lanes are added in order. A fixed order of summation that
 * leaves room for vectors. */
static double squares(const void *numbers, int64_t n)
{
    const real *x = numbers;
    double lane[NORM_LANES] = {0.0}, sum = 0.0;
    int64_t whole = n - n % NORM_LANES;
    for (int64_t i = 0; i < whole; i += NORM_LANES)
        for (int j = 0; j < NORM_LANES; j++)
            lane[j] += (double)x[i + j] * (double)x[i + j];
    for (int64_t i = whole; i < n; i++)
        lane[i - whole] += (double)x[i] * (double)x[i];
    for (int j = 0; j < NORM_LANES; j++)
        sum += lane[j];
    return sum;
}

const struct gradient_rows AT_LEVEL(gradient_rows) = {squares};
