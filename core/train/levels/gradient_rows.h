/* SPDX-License-Identifier: MIT */
/* gradient_rows.h: the sum of squares. */
#ifndef LEVELS_GRADIENT_ROWS_H
#define LEVELS_GRADIENT_ROWS_H

#include "tensor/levels.h"

struct gradient_rows {
    double (*squares_f32)(const float *x, int64_t n);
    double (*squares_f64)(const double *x, int64_t n);
};
LEVEL_TABLE(gradient_rows, gradient_rows)

#endif
