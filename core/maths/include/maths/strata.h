/* SPDX-License-Identifier: MIT */
/*
 * strata.h: one difference A - B measured in several strata (schemes, sizes) at the same seeds.
 *
 * d is [n_seed, k]: of each seed a difference in each stratum; one that is not finite (no cell,
 * diverged) is missing. Strata share their seeds, so that their differences are not independent and
 * may not be counted as n * k. Each seed therefore gives one number: its mean over the strata, or
 * its differences between them. Tests over seeds then need nothing but independent seeds. A seed
 * counts when it has every stratum asked for: a mean over other strata would be of another thing.
 */
#pragma once

#include "base/base.h"

/* Of each complete seed the mean over the strata of `in` (NULL: all) into mean [n_seed], in their
 * order, NaN of the others; how many are complete. */
int strata_means(const double *d, int n_seed, int k, const bool *in, double *mean);

/* Does the difference depend on the stratum? */
struct interaction {
    int n, k; /* complete seeds, strata */
    /* One-way analysis of variance with seeds as subjects: for k = 2 F is the square of the paired
     * t of the differences of differences. NaN for n < 2, k < 2 and where nothing varies. */
    double f, df1, df2;
    /* Greenhouse and Geisser 1959 (Psychometrika 24, 95): 1/(k - 1) .. 1, by which both degrees of
     * freedom are multiplied, since differences between strata need not vary alike. */
    double epsilon, p;
};

void interaction_test(const double *d, int n_seed, int k, struct interaction *out);
