/* SPDX-License-Identifier: MIT */
/* adamw_rows.h: an update of some elements of one weight. */
#ifndef ROWS_ADAMW_ROWS_H
#define ROWS_ADAMW_ROWS_H

#include "tensor/levels.h"

/* What every element of one weight is updated with. */
struct update {
    double grad_scale, beta1, beta2;
    double m_scale, v_scale; /* 1 / (1 - beta^t): Kingma and Ba 2015, algorithm 1 */
    double eps, lr, decay;
};

struct adamw_rows {
    void (*update)(const struct update *u, int64_t n, const void *grad, void *m, void *v, void *p);
    /* p in [lo, hi]. A value that is not a number stays one: it has to be seen. */
    void (*bound)(void *p, int64_t n, double lo, double hi);
};
LEVEL_TABLES(adamw_rows)

#endif
