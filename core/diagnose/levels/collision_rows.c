/* SPDX-License-Identifier: MIT */
/* collision_rows.c: collision_rows.h at a level. */
#include "levels/collision_rows.h"

#include <math.h>

/* Least of x + y. Eight at a time: one running minimum would be a chain. */
static double least_sum(const double *restrict x, const double *restrict y, int64_t n)
{
    enum { EIGHT = 8 };
    double least[EIGHT], last = INFINITY;
    int64_t i = 0;
    for (int l = 0; l < EIGHT; l++)
        least[l] = INFINITY;
    for (; i + EIGHT <= n; i += EIGHT)
        for (int l = 0; l < EIGHT; l++) {
            double sum = x[i + l] + y[i + l];
            least[l] = sum < least[l] ? sum : least[l];
        }
    for (; i < n; i++)
        last = x[i] + y[i] < last ? x[i] + y[i] : last;
    for (int l = 0; l < EIGHT; l++)
        last = least[l] < last ? least[l] : last;
    return last;
}

const struct collision_rows AT_LEVEL(collision_rows) = {least_sum};
