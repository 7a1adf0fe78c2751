/* SPDX-License-Identifier: MIT */
/* gradient_rows.h: the sum of squares. */
#ifndef ROWS_GRADIENT_ROWS_H
#define ROWS_GRADIENT_ROWS_H

#include "tensor/levels.h"

struct gradient_rows {
    double (*squares)(const void *x, int64_t n);
};
LEVEL_TABLES(gradient_rows)

#endif
