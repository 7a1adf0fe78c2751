/* SPDX-License-Identifier: MIT */
/* adamw_rows.h: an update of some elements of one weight. */
#ifndef LEVELS_ADAMW_ROWS_H
#define LEVELS_ADAMW_ROWS_H

#include "tensor/levels.h"

/* What every element of one weight is updated with. */
struct update {
    double grad_scale, beta1, beta2;
    double m_scale, v_scale; /* 1 / (1 - beta^t): Kingma and Ba 2015, algorithm 1 */
    double eps, lr, decay;
};

struct adamw_rows {
    void (*update_f32)(const struct update *u, int64_t n, const float *restrict grad,
                       float *restrict m, float *restrict v, float *restrict p);
    void (*update_f64)(const struct update *u, int64_t n, const double *restrict grad,
                       double *restrict m, double *restrict v, double *restrict p);
};
LEVEL_TABLE(adamw_rows, adamw_rows)

#endif
