/* SPDX-License-Identifier: MIT */
/*
 * support.h: how much the dimensions that carry tokens and positions overlap.
 *
 * t_j and p_j are the variances of dimension j over tokens and over positions. With u = t / sum(t)
 * and v = p / sum(p)
 *
 *   overlap  = sum_j min(u_j, v_j)       1: the same profile over dimensions
 *   disjoint = 1 - overlap               1: no dimension carries both
 *
 * disjoint is the total variation distance of the two profiles. It depends on the basis, but not on
 * the scale of either table.
 */
#pragma once

#include "maths/spectrum.h"

struct support {
    double token_variance, position_variance; /* sums over dimensions                           */
    double overlap, disjoint; /* NaN when one of the two does not vary                          */
    double by_chance;         /* expected overlap if the dimensions of one were shuffled:
                                 sum over all j, k of min(u_j, v_k) / d                         */
    double shared;            /* sum_j min(t_j, p_j) / min(sum t, sum p): the same with scales  */
    double correlation;       /* Spearman's correlation of t_j and p_j; ties share a rank; NaN:
                               * constant */
    int64_t token_dimensions, position_dimensions; /* fewest dimensions that hold 99 % of the
                                                    * variance */
};

/* Sets variance [columns]: of each column over the rows of m, divided by rows, in two passes. */
void column_variances(const struct matrix *m, double *variance);
/* token, position [d]: variances. PEAT_FAILED: not finite. */
peat_status support_find(struct support *s, const double *token, const double *position, int64_t d,
                         struct arena *a, struct error *err);
