/* SPDX-License-Identifier: MIT */
/* kit.h: helpers of the diagnostics: numbers with six significant digits, and scores of heads. */
#pragma once

#include "diagnose/diagnostics.h"
#include "diagnose/trace.h"

/* NaN and infinities become null. */
void put_rounded(struct json map, const char *key, double x);
void add_rounded(struct json list, double x);
/* A list of n numbers. */
void put_rounded_row(struct json map, const char *key, const double *x, int64_t n);
/* Adds one plain sentence about a diagnostic. */
void put_summary(struct json map, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The seen keys [B,1,T,T]: 1 where a query sees a key, else 0; t is a pass with attention. */
double *keys_seen(const struct trace *t, struct arena *a);
/* Subtracts from row i of x [T,T] the mean over keys that query i sees by mask [T,T]; others 0. */
void centre_seen(double *x, const double *mask, int64_t T);
/* part / whole; NaN when the whole is 0. */
double ratio(double part, double whole);
