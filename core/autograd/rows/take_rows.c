/* SPDX-License-Identifier: MIT */
/* take_rows.c: rows of take_last, scatter_last and gather_rows, and their gradients. */
#include "rows/take_rows.h"

#include "fetch.h"

/* Indices of distances count up or down by 1, or stay constant where they are clipped. Vectors move
 * such stretches. */
enum { STRETCH = 32, UNEVEN = 2 };

/* The step from each index of a stretch to the next; UNEVEN: it is not 1, -1 or 0 throughout. */
static int step_of(const int32_t *index)
{
    int64_t step = (int64_t)index[1] - index[0];
    int32_t apart = 0;
    if (step < -1 || step > 1)
        return UNEVEN;
    for (int32_t j = 0; j < STRETCH; j++)
        apart |= index[j] ^ (index[0] + j * (int32_t)step);
    return apart ? UNEVEN : (int)step;
}

/* y_j = a[index_j], or y_j += a[index_j] */
VEC_INLINE void pick_row(void *to, const void *from, const int32_t *index, int64_t n, bool more)
{
    real *restrict y = to;
    const real *restrict a = from;
    int64_t j = 0;
    for (; j + STRETCH <= n; j += STRETCH) {
        int step = step_of(index + j);
        const real *first = a + index[j];
        if (step == 1)
            for (int k = 0; k < STRETCH; k++)
                y[j + k] = more ? y[j + k] + first[k] : first[k];
        else if (step == -1)
            for (int k = 0; k < STRETCH; k++)
                y[j + k] = more ? y[j + k] + first[-k] : first[-k];
        else if (step == 0)
            for (int k = 0; k < STRETCH; k++)
                y[j + k] = more ? y[j + k] + *first : *first;
        else
            for (int k = 0; k < STRETCH; k++)
                y[j + k] = more ? y[j + k] + a[index[j + k]] : a[index[j + k]];
    }
    for (; j < n; j++)
        y[j] = more ? y[j] + a[index[j]] : a[index[j]];
}

static void pick(void *y, const void *a, const int32_t *index, int64_t n)
{
    pick_row(y, a, index, n, false);
}

static void pick_more(void *dy, const void *a, const int32_t *index, int64_t n)
{
    pick_row(dy, a, index, n, true);
}

/* da[index_j] += dy_j */
static void scatter(void *to, const void *from, const int32_t *index, int64_t n)
{
    real *restrict da = to;
    const real *restrict dy = from;
    int64_t j = 0;
    for (; j + STRETCH <= n; j += STRETCH) {
        int step = step_of(index + j);
        real *first = da + index[j];
        if (step == 1) {
            for (int k = 0; k < STRETCH; k++)
                first[k] += dy[j + k];
        } else if (step == -1) {
            for (int k = 0; k < STRETCH; k++)
                first[-k] += dy[j + k];
        } else if (step == 0) {
            real sum = *first;
            for (int k = 0; k < STRETCH; k++)
                sum += dy[j + k];
            *first = sum;
        } else {
            for (int k = 0; k < STRETCH; k++)
                da[index[j + k]] += dy[j + k];
        }
    }
    for (; j < n; j++)
        da[index[j]] += dy[j];
}

/* Adds elements [j, j + n) of the rows in `of` in turn: a row waits only for its own sums. */
static void scatter_in_turn(const struct taken_rows *t, uint32_t of, int64_t j, int64_t n)
{
    for (int64_t k = j; k < j + n; k++)
        for (int r = 0; r < TAKE_APART; r++)
            if (of >> r & 1)
                ((real *)t->a[r])[t->index[r][k]] += ((const real *)t->y[r])[k];
}

/* Adds elements [j, j + STRETCH), which have one index in each row. */
static void scatter_sums(const struct taken_rows *t, int64_t j)
{
    real sum[TAKE_APART];
    for (int r = 0; r < TAKE_APART; r++)
        sum[r] = ((const real *)t->a[r])[t->index[r][j]];
    for (int64_t k = j; k < j + STRETCH; k++)
        for (int r = 0; r < TAKE_APART; r++)
            sum[r] += ((const real *)t->y[r])[k];
    for (int r = 0; r < TAKE_APART; r++)
        ((real *)t->a[r])[t->index[r][j]] = sum[r];
}

/* da[index_j] += dy_j in each row */
static void scatter_apart(const struct taken_rows *t, int64_t n)
{
    enum { ALL = (1 << TAKE_APART) - 1 };
    int64_t j = 0;
    for (; j + STRETCH <= n; j += STRETCH) {
        uint32_t still = 0, uneven = 0;
        for (int r = 0; r < TAKE_APART; r++) {
            if (t->ahead != 0)
                fetch_bytes((const char *)t->y[r] + t->ahead + j * (int64_t)sizeof(real),
                            STRETCH * sizeof(real), false);
            const int step = step_of(t->index[r] + j);
            still |= (uint32_t)(step == 0) << r;
            uneven |= (uint32_t)(step == UNEVEN) << r;
        }
        if (still == ALL) {
            scatter_sums(t, j);
            continue;
        }
        scatter_in_turn(t, still | uneven, j, STRETCH);
        for (int r = 0; r < TAKE_APART; r++)
            if (!((still | uneven) >> r & 1))
                scatter(t->a[r], (const real *)t->y[r] + j, t->index[r] + j, STRETCH);
    }
    scatter_in_turn(t, ALL, j, n - j);
}

static void scatter_rows(void *table, const void *dy, const int32_t *index, int64_t count,
                         int64_t columns, int64_t begin, int64_t end)
{
    for (int64_t i = 0; i < count; i++) {
        real *restrict to = (real *)table + index[i] * columns;
        const real *restrict from = (const real *)dy + i * columns;
        for (int64_t j = begin; j < end; j++)
            to[j] += from[j];
    }
}

const struct take_rows AT_LEVEL(take_rows) = {pick, pick_more, scatter, scatter_apart,
                                              scatter_rows};
