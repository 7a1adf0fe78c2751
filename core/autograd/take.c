/* SPDX-License-Identifier: MIT */
/* take.c: rows of take_last, scatter_last and matmul_take. */
#include "take.h"

#include "fetch.h"
#include "rows/take_rows.h"

/* Prefetches the next row, because rows are too short for the processor's own prefetching. */
void take_pick(peat_dtype dtype, const struct take_block *b, int64_t length, int64_t columns,
               bool fresh)
{
    const struct take_rows *rows = take_rows_of(dtype);
    const int64_t bytes = (int64_t)dtype_bytes(dtype);
    for (int64_t r = 0; r < b->rows; r++) {
        if (r + 1 < b->rows) {
            fetch_bytes(b->y + (r + 1) * b->y_step, columns * bytes, true);
            fetch_bytes(b->a + (r + 1) * b->a_step, length * bytes, false);
        }
        (fresh ? rows->pick : rows->pick_more)(b->y + r * b->y_step, b->a + r * b->a_step,
                                               b->index + r * b->index_step, columns);
    }
}

/* Rows [r, r + TAKE_APART). */
static struct taken_rows rows_apart(const struct take_block *b, int64_t r)
{
    struct taken_rows t = {.ahead = r + 2 * TAKE_APART <= b->rows ? TAKE_APART * b->y_step : 0};
    for (int i = 0; i < TAKE_APART; i++) {
        t.a[i] = b->a + (r + i) * b->a_step;
        t.y[i] = b->y + (r + i) * b->y_step;
        t.index[i] = b->index + (r + i) * b->index_step;
    }
    return t;
}

void take_scatter(peat_dtype dtype, const struct take_block *b, int64_t columns)
{
    const struct take_rows *rows = take_rows_of(dtype);
    int64_t r = 0;
    for (; r + TAKE_APART <= b->rows; r += TAKE_APART) {
        const struct taken_rows apart = rows_apart(b, r);
        rows->scatter_apart(&apart, columns);
    }
    for (; r < b->rows; r++)
        rows->scatter(b->a + r * b->a_step, b->y + r * b->y_step, b->index + r * b->index_step,
                      columns);
}
