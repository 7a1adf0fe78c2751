/* SPDX-License-Identifier: MIT */
/*
 * crossed.h: the mean of a table of seeds and stretches of text, where both are samples.
 *
 * d_sj = mu + a_s + b_j + e_sj: seed s and stretch j are random effects that are crossed, with one
 * value for each pair. The mean is over seeds, and over stretches by weight w_j (sum 1). With the
 * seed means A_s, stretch means B_j, the mean m and r_sj = d_sj - A_s - B_j + m, of S seeds and J
 * stretches,
 *
 *   V_a = sum_s (A_s - m)^2 / (S (S - 1))
 *   V_b = J / (J - 1) sum_j w_j^2 (B_j - m)^2
 *   V_e = J / (J - 1) sum_sj w_j^2 r_sj^2 / (S (S - 1))
 *
 * estimate the variance that seeds and e, stretches and e, and e alone add to the mean. Its
 * variance is V_a + V_b - V_e, the analysis of variance (Searle, Casella and McCulloch 1992,
 * Variance Components, chapter 4) for equal weights, but at least V_a and V_b, since a component of
 * variance is not negative. The degrees of freedom are Satterthwaite's (1946, Biometrics Bulletin
 * 2, 110):
 *
 *   V^2 / (V_a^2 / (S - 1) + V_b^2 / (J - 1) + V_e^2 / ((S - 1)(J - 1)))
 *
 * and those of V_a or V_b alone where that is the variance. That both items and subjects are
 * samples is Clark's point (1973, J. Verbal Learning and Verbal Behavior 12, 335).
 */
#pragma once

#include "base/base.h"

struct crossed {
    double mean, variance, df; /* variance: of the mean; NaN: fewer than two seeds or stretches */
};

/* d [n_seed, n_stretch], all finite; weight [n_stretch] of any sum above 0: stretches of weight 0
 * are left out. */
struct crossed crossed_mean(const double *d, int n_seed, int n_stretch, const double *weight);
/* Half-width of the mean's interval at this level, such as .95; NaN where df is not defined. */
double crossed_half(const struct crossed *c, double level);
