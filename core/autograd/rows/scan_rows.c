/* SPDX-License-Identifier: MIT */
/* scan_rows.c: running sums of a tile. */
#include "rows/scan_rows.h"

#include "fetch.h"

/* Inner elements [start, start + columns) of one outer element. */
static void scan_block(const struct scan *s, int64_t start, int64_t columns)
{
    real sum[SCAN_COLUMNS] = {0};
    for (int64_t t = 0; t < s->length; t++) {
        int64_t at = start + (s->reverse ? s->length - 1 - t : t) * s->inner;
        const real *x = (const real *)s->x + at;
        real *y = (real *)s->y + at;
        for (int64_t i = 0; i < columns; i++) {
            sum[i] += x[i];
            y[i] = s->fresh ? sum[i] : y[i] + sum[i];
        }
    }
}

static void scan_columns(void *ctx, int64_t tile)
{
    const struct scan *s = ctx;
    int64_t outer = tile / s->blocks, first = tile % s->blocks * SCAN_COLUMNS;
    int64_t columns = s->inner - first < SCAN_COLUMNS ? s->inner - first : SCAN_COLUMNS;
    scan_block(s, outer * s->length * s->inner + first, columns);
}

/* Elements of SCAN_ROWS rows that are read before the next rows are prefetched: such short rows end
 * before the processor prefetches by itself. */
enum { SCAN_FETCHED = 16 };

/* SCAN_ROWS rows of dense elements, side by side; has_next: as many rows follow. */
static void scan_side_by_side(const struct scan *s, int64_t first, bool has_next)
{
    const int64_t n = s->length, step = s->reverse ? -1 : 1;
    const real *restrict x = (const real *)s->x + first * n + (s->reverse ? n - 1 : 0);
    real *restrict y = (real *)s->y + first * n + (s->reverse ? n - 1 : 0);
    real sum[SCAN_ROWS] = {0};
    for (int64_t t = 0; t < n; t++, x += step, y += step) {
        for (int64_t r = 0; r < SCAN_ROWS && has_next && t % SCAN_FETCHED == 0; r++) {
            fetch_bytes(x + (SCAN_ROWS + r) * n, 1, false);
            fetch_bytes(y + (SCAN_ROWS + r) * n, 1, true);
        }
        for (int64_t r = 0; r < SCAN_ROWS; r++) {
            sum[r] += x[r * n];
            y[r * n] = s->fresh ? sum[r] : y[r * n] + sum[r];
        }
    }
}

static void scan_rows(void *ctx, int64_t tile)
{
    const struct scan *s = ctx;
    int64_t first = tile * SCAN_ROWS;
    if (first + SCAN_ROWS <= s->outer)
        scan_side_by_side(s, first, first + 2 * SCAN_ROWS <= s->outer);
    else
        for (int64_t row = first; row < s->outer; row++)
            scan_block(s, row * s->length, 1);
}

const struct scan_rows AT_LEVEL(scan_rows) = {scan_columns, scan_rows};
