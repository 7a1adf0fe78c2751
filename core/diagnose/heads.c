/* SPDX-License-Identifier: MIT */
/* heads.c: scores of single heads. */
#include "heads.h"

#include <math.h>

double *keys_seen(const struct trace *t, struct arena *a)
{
    return node_spread(t->keys, 4, (int64_t[]){t->in.B, 1, t->in.T, t->in.T}, a);
}

double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}
