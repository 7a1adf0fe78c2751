/* SPDX-License-Identifier: MIT */
/*
 * subspace.h: the dimensions that a table fills, and the angles between two such subspaces.
 *
 * The rows of a table [n, d] minus their mean have covariance C [d, d] with eigenvalues l_1 >= l_2
 * >= ... The subspace of a table for an energy share s is spanned by its first k eigenvectors, k
 * the smallest number with l_1 + .. + l_k >= s (l_1 + .. + l_d). The mean is subtracted because a
 * vector that all rows share does not distinguish them.
 */
#pragma once

#include "maths/spectrum.h"

/* Number of dimensions that a spectrum fills. For a table that does not vary both numbers are 0. */
struct effective_rank {
    int64_t components; /* smallest k with l_1 + .. + l_k >= share * sum                       */
    double entropy;     /* exp(-sum p_i ln p_i), p_i = l_i / sum: 1 .. d. After Roy & Vetterli
                           2007, but of shares of variance, not of singular values            */
};

/* value [n] ascending, as spectrum_symmetric gives them; negative ones (rounding) count as 0. */
struct effective_rank effective_rank(const double *value, int64_t n, double share);

struct subspace {
    int64_t k, d;               /* dimension of the subspace and of the space              */
    double *basis;              /* [k, d], orthonormal rows, largest variance first        */
    double *value;              /* [d] eigenvalues of the covariance, ascending            */
    double variance;            /* their sum: the trace of the covariance                  */
    double constant;            /* share of the mean in the sum of squares; NaN: all values are 0 */
    struct effective_rank rank; /* effective rank at the same share                 */
};

/* The subspace of m for the share in (0, 1]; its arrays live in the arena. m with zero variance
 * has k = 0. PEAT_FAILED: m is not finite. */
peat_status subspace_find(const struct team *team, struct subspace *s, const struct matrix *m,
                          double share, struct arena *a, struct error *err);

/* Summary of the principal angles between two subspaces of the same space. In degrees. */
struct angle_summary {
    int64_t n; /* min(k_a, k_b); 0: one of the subspaces is empty, and the other fields are NaN  */
    double smallest, mean, largest;
    double overlap; /* mean of cos^2 over the n angles: 0: orthogonal, 1: one contains the other */
};

/* The n = min(k_a, k_b) principal angles, ascending, in degrees, into angle [n] (may be NULL):
 * theta_i = acos of the singular values of A B' (Bjoerck & Golub 1973), or from the sines where
 * acos loses digits. */
peat_status principal_angles(const struct team *team, const struct subspace *x,
                             const struct subspace *y, double *angle, struct angle_summary *s,
                             struct arena *a, struct error *err);

/* Quantiles of a number over draws. */
struct quantiles {
    double mean, q05, q50, q95;
};

/* The same numbers for two independent, uniformly random subspaces of these dimensions. The mean of
 * `overlap` is max(k_a, k_b) / d exactly. */
struct angle_baseline {
    int64_t draws;
    struct quantiles smallest, mean, largest, overlap;
};

/* stream: key from rng_stream(); the same stream gives the same baseline. k_a, k_b in 1 .. d. Each
 * draw is d * min(k_a, k_b) normal numbers, one QR and one singular value decomposition: 100 draws
 * take a second at d = 256 and k = 64. */
peat_status angles_random(const struct team *team, int64_t k_a, int64_t k_b, int64_t d,
                          int64_t draws, uint64_t stream, struct angle_baseline *b, struct arena *a,
                          struct error *err);

/* Quantiles as numpy's default (linear between order statistics); sorts x. NaN for n == 0. */
struct quantiles quantiles_of(double *x, int64_t n);
