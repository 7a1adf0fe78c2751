/* SPDX-License-Identifier: MIT */
/* statistics.h: the few formulas a results table needs; each is tested against scipy's values. */
#ifndef REPORT_STATISTICS_H
#define REPORT_STATISTICS_H

#include <stdint.h>

double stats_mean(const double *x, int n);
/* Sample standard deviation (n - 1); NaN for n < 2. */
double stats_sd(const double *x, int n);
double stats_median(double *x, int n); /* sorts x */
/* Quantile of Student's t: P(T <= t) = p with df degrees of freedom. */
double student_t_quantile(double p, double df);
/* Half-width of the 95 % Student-t interval of a mean; NaN for n < 2. */
double stats_ci_half(const double *x, int n);
/* Exact two-sided sign-flip p of paired differences for n <= 20; beyond, Monte Carlo with 100,000
 * draws from a fixed stream: (1 + b) / (1 + B). NaN for n == 0. */
double signflip_p(const double *d, int n);
/* Holm's step-down adjustment in place, monotone, at most 1. NaN entries are left out. */
void holm_adjust(double *p, int n);

#endif
