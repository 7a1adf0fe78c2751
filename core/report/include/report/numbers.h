/* SPDX-License-Identifier: MIT */
/* numbers.h: numbers as a table shows them; the texts are in `a`. */
#pragma once

#include "maths/statistics.h"

/* "2.143 ± 0.012": two significant digits of the half-width; without one (NaN) four digits of x.
 * "-" for NaN. with_sign: "+0.012". */
const char *number_interval(struct arena *a, double x, double half, bool with_sign);
/* An interval with `digits` significant digits of the half-width; without one, two more of x. From
 * 1e9 on, and below 1e-9, "1.234e+20 ± 1.2e+18". */
const char *number_spread(struct arena *a, double x, double half, int digits, bool with_sign);
/* "± 0.012": only the half-width; "-" for NaN. */
const char *number_half(struct arena *a, double half);
/* "812", "43.5k", "1.20M", "3.4G"; beyond P "1.00e+308"; "-" for NaN. */
const char *number_count(struct arena *a, double x);
/* The ratio of two numbers: "16 : 1", "1 : 5.66"; "-" for NaN. */
const char *number_ratio(struct arena *a, double x);
/* "0.031", "1.0e-05"; "-" for NaN. */
const char *number_p(struct arena *a, double p);
/* number_p, but "needs 9 seeds" when n seeds cannot reach p < .05 over m comparisons, because a
 * number would be read as "no difference". */
const char *number_tested_p(struct arena *a, enum paired_test test, double p, int n, int m);
