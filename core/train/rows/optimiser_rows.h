/* SPDX-License-Identifier: MIT */
/* optimiser_rows.h: the norm of a gradient, and an update of some elements of one weight. */
#pragma once

#include "tensor/levels.h"

/* Values that are the same for all elements of one weight. */
struct update {
    double grad_scale, beta1, beta2;
    double m_scale, v_scale; /* 1 / (1 - beta^t): Kingma and Ba 2015, algorithm 1 */
    double eps, lr, decay;
};

struct optimiser_rows {
    double (*squares)(const void *x, int64_t n); /* sum of the squares */
    void (*update)(const struct update *u, int64_t n, const void *grad, void *m, void *v, void *p);
    /* Clamps p to [lo, hi]. NaN stays, so that divergence is noticed. */
    void (*bound)(void *p, int64_t n, double lo, double hi);
};
LEVEL_TABLES(optimiser_rows)
