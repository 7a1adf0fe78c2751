/* SPDX-License-Identifier: MIT */
/* numbers.h: how numbers stand in a table. */
#ifndef REPORT_NUMBERS_H
#define REPORT_NUMBERS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/strbuf.h"

/* "2.143 ± 0.012": two significant digits of the half-width; without one (NaN) four of x alone.
 * "-" for NaN. with_sign: "+0.012". */
void number_interval(struct strbuf *out, double x, double half, bool with_sign);
const char *number_interval_text(struct arena *a, double x, double half, bool with_sign);
/* From 1e9 on, and below 1e-9, "1.234e+20 ± 1.2e+18". The same with `digits` significant digits of
 * the half-width; without one, two more of x. */
void number_spread(struct strbuf *out, double x, double half, int digits, bool with_sign);
/* "812", "43.5k", "1.20M", "3.4G"; beyond P "1.00e+308"; "-" for NaN. */
void number_count(struct strbuf *out, double x);
/* How many times one thing is the other: "16 : 1", "1 : 5.66"; "-" for NaN. */
void number_ratio(struct strbuf *out, double x);
/* "0.031", "1.0e-05"; "-" for NaN. */
void number_p(struct strbuf *out, double p);
/* What one of these makes of x, in `a`. */
const char *number_formed(struct arena *a, void (*number)(struct strbuf *, double), double x);

#endif
