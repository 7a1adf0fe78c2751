/* SPDX-License-Identifier: MIT */
/* heads.h: shared by the diagnostics of attention. */
#pragma once

#include "diagnose/trace.h"

/* 1 where a key is seen and 0 elsewhere, [B,1,T,T]; t is of a pass with attention. */
double *keys_seen(const struct trace *t, struct arena *a);
/* Row i of x [T,T] less its mean over the keys it sees; 0 at those it does not. mask [T,T]. */
void centre_seen(double *x, const double *mask, int64_t T);
/* part / whole; NaN when the whole is nothing. */
double ratio(double part, double whole);
