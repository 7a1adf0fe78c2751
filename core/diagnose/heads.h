/* SPDX-License-Identifier: MIT */
/* heads.h: shared by the diagnostics of attention. */
#ifndef DIAGNOSE_HEADS_H
#define DIAGNOSE_HEADS_H

#include "base/value.h"
#include "diagnose/trace.h"

/* The 1s and 0s of which key is seen, [B,1,T,T]; t is of a pass with attention. */
double *keys_seen(const struct trace *t, struct arena *a);
/* out [T,T] = scale q k' of one head; q and k [T,C]. */
void score_head(const struct team *team, const double *q, const double *k, double scale, int64_t T,
                int64_t C, double *out);
/* part / whole; NaN when the whole is nothing. */
double ratio(double part, double whole);

#endif
