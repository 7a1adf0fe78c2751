/* SPDX-License-Identifier: MIT */
/*
 * power.h: what n paired differences can show, when they are normal with a known spread.
 *
 * Effects and margins are in standard deviations of the differences.
 */
#pragma once

#include "base/base.h"

struct paired_design {
    bool equivalence; /* two one-sided t tests within +-margin; else one t test against 0 */
    int tails;        /* of the t test: 2, or 1 in the direction of the effect */
    double effect;    /* the true mean */
    double margin;
    double alpha;
};

/* The chance that n differences reach p < alpha. Of the t test it is the tail of the noncentral t
 * distribution (Johnson, Kotz and Balakrishnan 1995, ch. 31), of equivalence the integral over the
 * same distribution of the sample's spread (Phillips 1990, J. Pharmacokin. Biopharm. 18, 137).
 * 0 for n < 2. Errors are below 1e-9. */
double paired_power(const struct paired_design *d, int n);
/* The fewest differences with at least this power; 0: more than PAIRS_MAX (statistics.h). */
int paired_power_pairs(const struct paired_design *d, double power);
