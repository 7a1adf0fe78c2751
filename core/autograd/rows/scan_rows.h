/* SPDX-License-Identifier: MIT */
/* scan_rows.h: running sums of a tile. */
#pragma once

#include "tensor/levels.h"
#include "tensor/parallel.h"

enum { SCAN_COLUMNS = 64 }; /* inner elements of a tile */
enum { SCAN_ROWS = 4 };     /* along the last axis: rows whose sums run side by side */

/* One pass over contiguous [outer, length, inner]. */
struct scan {
    int64_t outer, length, inner, blocks;
    bool reverse, fresh; /* fresh: sums are written to y, not added */
    const void *x;
    void *y;
};

struct scan_rows {
    tile_fn columns; /* SCAN_COLUMNS inner elements of one outer one */
    tile_fn rows;    /* SCAN_ROWS outer elements, where inner is 1   */
};
LEVEL_TABLES(scan_rows)
