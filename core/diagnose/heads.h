/* SPDX-License-Identifier: MIT */
/* heads.h: helpers that the diagnostics of attention share. */
#pragma once

#include "diagnose/trace.h"

/* The seen keys [B,1,T,T]: 1 where a query sees a key, else 0; t is a pass with attention. */
double *keys_seen(const struct trace *t, struct arena *a);
/* Subtracts from row i of x [T,T] the mean over keys that query i sees by mask [T,T]; others 0. */
void centre_seen(double *x, const double *mask, int64_t T);
/* part / whole; NaN when the whole is 0. */
double ratio(double part, double whole);
