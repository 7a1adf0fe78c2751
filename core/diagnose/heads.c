/* SPDX-License-Identifier: MIT */
/* heads.c: scores of single heads. */
#include "heads.h"

double *keys_seen(const struct trace *t, struct arena *a)
{
    return node_spread(t->keys, 4, (int64_t[]){t->in.B, 1, t->in.T, t->in.T}, a);
}

void centre_seen(double *x, const double *mask, int64_t T)
{
    for (int64_t i = 0; i < T; i++) {
        double sum = 0.0, n = 0.0;
        for (int64_t j = 0; j < T; j++) {
            sum += mask[i * T + j] != 0.0 ? x[i * T + j] : 0.0;
            n += mask[i * T + j] != 0.0;
        }
        for (int64_t j = 0; j < T; j++)
            x[i * T + j] = mask[i * T + j] != 0.0 ? x[i * T + j] - sum / n : 0.0;
    }
}

double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}
