/* SPDX-License-Identifier: MIT */
/*
 * statistics.h: the formulas of a results table; each is tested against scipy's values.
 *
 * statistics.c has moments and distributions, paired_tests.c the tests of differences d_1 .. d_n of
 * two rows at the same seeds. strata.h is for several pairs of rows, power.h for the power of so
 * many seeds.
 */
#pragma once

#include "base/base.h"

/* A p below this level is called significant. */
#define STATS_LEVEL 0.05

/* ---- moments ---- */

double stats_sum(const double *x, int64_t n); /* summed in order */
double stats_mean(const double *x, int64_t n);
/* Sample standard deviation (n - 1); NaN for n < 2. */
double stats_sd(const double *x, int n);
double stats_median(double *x, int n); /* sorts x */
/* Copies the finite ones of n numbers; returns how many. x and out may be the same. */
int stats_finite(const double *x, int n, double *out);
/* Half-width of the 95 % Student-t interval of a mean, t_{n-1,.975} sd / sqrt(n); NaN for n < 2. */
double stats_ci_half(const double *x, int n);
/* Half-width of Welch's 95 % interval of the difference of two independent means; NaN unless both n
 * are 2 or more. */
double welch_ci_half(double sd_x, int n_x, double sd_y, int n_y);

/* ---- distributions ---- */

double normal_below(double z); /* P(Z <= z) for a standard normal Z */
/* Quantile of Student's t: P(T <= t) = p with df degrees of freedom. */
double student_t_quantile(double p, double df);
/* P(|T| >= |t|) with df degrees of freedom. */
double student_t_p(double t, double df);
/* P(T <= t) with df degrees of freedom. */
double student_t_below(double t, double df);
/* P(F >= f) with a and b degrees of freedom. */
double f_tail(double f, double a, double b);

/* ---- paired differences ---- */

enum paired_test {
    /* The share of sign patterns s with |sum s_i d_i| >= |sum d_i|: exact for n <= 20; beyond,
     * Monte Carlo with 100,000 draws from a fixed stream: (1 + b) / (1 + B). */
    TEST_SIGN_FLIP,
    /* Wilcoxon's signed ranks: zeros are dropped, ties share their mean rank, and the null
     * distribution of the sum of positive ranks is counted exactly with those ranks up to n = 200
     * (beyond, a normal with ties and continuity correction). 1 when every difference is 0. */
    TEST_WILCOXON,
    /* Student's t of the mean difference; NaN when the differences have no spread. */
    TEST_T,
    PAIRED_TESTS
};

/* Two-sided p; NaN for n == 0 and where the test is not defined. */
double paired_p(enum paired_test test, const double *d, int n);
/* One-sided: p that the differences are centred above (or below) `limit`; the test of d - limit. */
double paired_p_above(enum paired_test test, const double *d, int n, double limit);
double paired_p_below(enum paired_test test, const double *d, int n, double limit);
/* The smallest p that n differences can give with 1 or 2 tails: min(1, tails / 2^n). With a t test
 * p can be any number from n = 2 on, so the smallest is 0. */
double paired_p_smallest(enum paired_test test, int tails, int n);
/* Whether n differences can be significant, two-sided, after Holm's adjustment over m
 * comparisons. */
bool paired_can_show(enum paired_test test, int n, int m);
/* The fewest differences whose smallest p, times m, is below the level; at most PAIRS_MAX. */
enum { PAIRS_MAX = 1000 };
int paired_pairs_needed(enum paired_test test, int tails, int m, double level);
/* "sign-flip", and "exact sign-flip test" for sentences. */
extern const char *const paired_test_words[PAIRED_TESTS];
const char *paired_test_name(enum paired_test test);

/* Cohen's d_z = mean(d) / sd(d); NaN when the differences have no spread. */
double effect_dz(const double *d, int n);
/* Hedges' g_z = J(n - 1) d_z, J(m) = gamma(m / 2) / (sqrt(m / 2) gamma((m - 1) / 2)), which removes
 * the upward bias of small samples; NaN for n < 3, where J is 0. */
double effect_gz(const double *d, int n);

/* Holm's step-down adjustment in place, monotone, at most 1. NaN entries are left out. */
void holm_adjust(double *p, int n);

/* Ranks 1 .. n with the smallest first; equal values share their mean rank. */
void mean_ranks(const double *x, int64_t n, double *rank);
