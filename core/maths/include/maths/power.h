/* SPDX-License-Identifier: MIT */
/*
 * power.h: the power of tests with n paired differences that are normal with a known spread.
 *
 * Effects and margins are in standard deviations of the differences.
 */
#pragma once

#include "base/base.h"

struct paired_design {
    bool equivalence; /* two one-sided t tests within +-margin; otherwise one t test against 0 */
    int tails;        /* tails of the t test: 2, or 1 in the direction of the effect */
    double effect;    /* the true mean */
    double margin;
    double alpha;
};

/* The chance that n differences give p < alpha. For the t test it is the tail of the noncentral t
 * distribution (Johnson, Kotz and Balakrishnan 1995, ch. 31), for equivalence the integral over the
 * distribution of the sample's spread (Phillips 1990, J. Pharmacokin. Biopharm. 18, 137). 0 for n <
 * 2. Errors are below 1e-9. */
double paired_power(const struct paired_design *d, int n);
/* The fewest differences with at least this power; 0: more than PAIRS_MAX (statistics.h). */
int paired_power_pairs(const struct paired_design *d, double power);
