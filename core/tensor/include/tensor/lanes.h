/* SPDX-License-Identifier: MIT */
/*
 * lanes.h: reductions over a row, for sources in rows/ (tensor/levels.h).
 *
 * A row is added in 16 interleaved lanes which are then folded in halves: an order that vectorises
 * without letting the compiler reorder sums, and that is the same at every level of the processor.
 */
#pragma once

#include "tensor/levels.h"

/* Sum of the lanes, in halves. */
VEC_INLINE real lane_fold(const real *lane)
{
    real eight[8], four[4];
    VEC_LANES(j, 8)
        eight[j] = lane[j] + lane[j + 8];
    VEC_LANES(j, 4)
        four[j] = eight[j] + eight[j + 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

/* term is an expression in i. Numbers beyond the last whole group of lanes are added to the first
 * lanes. Half a group is common: heads of 8 dimensions. */
#define LANE_SUM(term)                                                                             \
    real lane[LANES] = {0};                                                                        \
    int64_t whole = n - n % LANES, done = whole;                                                   \
    for (int64_t first = 0; first < whole; first += LANES)                                         \
        VEC_LANES(j, LANES) {                                                                      \
            const int64_t i = first + j;                                                           \
            lane[j] += (term);                                                                     \
        }                                                                                          \
    if (n - whole >= LANES / 2) {                                                                  \
        VEC_LANES(j, LANES / 2) {                                                                  \
            const int64_t i = whole + j;                                                           \
            lane[j] += (term);                                                                     \
        }                                                                                          \
        done += LANES / 2;                                                                         \
    }                                                                                              \
    for (int64_t i = done; i < n; i++)                                                             \
        lane[i - whole] += (term);                                                                 \
    return lane_fold(lane)

VEC_INLINE real lane_sum(const real *x, int64_t n)
{
    LANE_SUM(x[i]);
}

VEC_INLINE real lane_dot(const real *x, const real *y, int64_t n)
{
    LANE_SUM(x[i] * y[i]);
}

/* sum of (x - shift) y */
VEC_INLINE real lane_dot_from(const real *x, real shift, const real *y, int64_t n)
{
    LANE_SUM((x[i] - shift) * y[i]);
}

/* sum of (x - shift) y z */
VEC_INLINE real lane_dot3_from(const real *x, real shift, const real *y, const real *z, int64_t n)
{
    LANE_SUM((x[i] - shift) * y[i] * z[i]);
}

/* sum of (x - shift)^2 */
VEC_INLINE real lane_squares(const real *x, real shift, int64_t n)
{
    LANE_SUM((x[i] - shift) * (x[i] - shift));
}

#undef LANE_SUM

/* -inf for an empty row; may skip a NaN. */
VEC_INLINE real lane_max(const real *x, int64_t n)
{
    real lane[LANES], eight[8], four[4], two[2], top;
    VEC_LANES(j, LANES)
        lane[j] = (real)-INFINITY;
    int64_t whole = n - n % LANES;
    for (int64_t first = 0; first < whole; first += LANES)
        VEC_LANES(j, LANES)
            lane[j] = x[first + j] > lane[j] ? x[first + j] : lane[j];
    VEC_LANES(j, 8)
        eight[j] = lane[j] > lane[j + 8] ? lane[j] : lane[j + 8];
    VEC_LANES(j, 4)
        four[j] = eight[j] > eight[j + 4] ? eight[j] : eight[j + 4];
    for (int j = 0; j < 2; j++)
        two[j] = four[j] > four[j + 2] ? four[j] : four[j + 2];
    top = two[0] > two[1] ? two[0] : two[1];
    for (int64_t i = whole; i < n; i++)
        top = x[i] > top ? x[i] : top;
    return top;
}
