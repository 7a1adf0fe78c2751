/* SPDX-License-Identifier: MIT */
/* rounded.h: numbers of a diagnosis, with six significant digits. */
#pragma once

#include "diagnose/diagnostics.h"

/* NaN and infinities become null. */
void put_rounded(struct json map, const char *key, double x);
void add_rounded(struct json list, double x);
/* A list of n numbers. */
void put_rounded_row(struct json map, const char *key, const double *x, int64_t n);
/* Adds one plain sentence about a diagnostic. */
void put_summary(struct json map, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* part / whole; NaN when the whole is 0. */
double ratio(double part, double whole);
