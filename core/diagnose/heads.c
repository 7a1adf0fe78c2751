/* SPDX-License-Identifier: MIT */
/* heads.c: scores of single heads. */
#include "heads.h"

#include <math.h>

#include "tensor/gemm.h"

double *keys_seen(const struct trace *t, struct arena *a)
{
    return node_spread(t->keys, 4, (int64_t[]){t->in.B, 1, t->in.T, t->in.T}, a);
}

void score_head(const struct team *team, const double *q, const double *k, double scale, int64_t T,
                int64_t C, double *out)
{
    const struct gemm g = {.dtype = PEAT_F64,
                           .trans_b = true,
                           .m = T,
                           .n = T,
                           .k = C,
                           .alpha = scale,
                           .a = q,
                           .b = k,
                           .c = out,
                           .lda = C,
                           .ldb = C,
                           .ldc = T};
    gemm_one(team, &g);
}

double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : (double)NAN;
}
