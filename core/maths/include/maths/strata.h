/* SPDX-License-Identifier: MIT */
/*
 * strata.h: one difference A - B measured in several strata (schemes, sizes) at the same seeds.
 *
 * d is [n_seed, k]: a difference for each seed and stratum; one that is not finite (no cell,
 * diverged) is missing. Strata share their seeds, so that their differences are not independent and
 * may not be counted as n * k. Each seed therefore gives one number: its mean over the strata, or
 * its differences between them. Tests over seeds then assume only independent seeds. A seed counts
 * when it has all strata in question: means over different strata could not be compared.
 */
#pragma once

#include "base/base.h"

/* The mean of each complete seed over the strata of `in` (NULL: all), in order, into mean [n_seed];
 * NaN for other seeds. Returns the number of complete seeds. */
int strata_means(const double *d, int n_seed, int k, const bool *in, double *mean);

/* A test of whether the difference depends on the stratum. */
struct interaction {
    int n, k; /* complete seeds, strata */
    /* One-way analysis of variance with seeds as subjects: for k = 2 F is the square of the paired
     * t of the differences of differences. NaN for n < 2, for k < 2 and where nothing varies. */
    double f, df1, df2;
    /* Greenhouse and Geisser 1959 (Psychometrika 24, 95): from 1/(k - 1) to 1. Multiplies both
     * degrees of freedom, since differences between strata may have unequal variances. */
    double epsilon, p;
};

void interaction_test(const double *d, int n_seed, int k, struct interaction *out);
