/* SPDX-License-Identifier: MIT */
/* slopes.h: the slopes of the scheme 'alibi', for its relatives. Press et al. 2022. */
#ifndef SCHEME_SLOPES_H
#define SCHEME_SLOPES_H

#include <math.h>

#include <peat/plugin.h>

/* Head h of H. Powers of two: 2^(-8(h+1)/H). Other H: the slopes of the largest power of two n
 * below, then every second slope of 2n heads, as in the authors' code. */
static inline double slopes_at(int64_t h, int64_t H)
{
    int64_t n = 1;
    while (2 * n <= H)
        n *= 2;
    int64_t step = h < n ? 2 * (h + 1) : 2 * (h - n) + 1;
    return exp2(-4.0 * (double)step / (double)n);
}

#endif
