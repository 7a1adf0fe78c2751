/* SPDX-License-Identifier: MIT */
/* collision_rows.h: the least sum of a row. */
#ifndef LEVELS_COLLISION_ROWS_H
#define LEVELS_COLLISION_ROWS_H

#include "tensor/levels.h"

struct collision_rows {
    double (*least_sum)(const double *restrict x, const double *restrict y, int64_t n);
};
LEVEL_TABLE(collision_rows, collision_rows)

#endif
