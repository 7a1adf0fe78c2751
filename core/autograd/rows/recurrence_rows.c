/* SPDX-License-Identifier: MIT */
/* recurrence_rows.c: a block of channels through the places of a row. */
#include "rows/recurrence_rows.h"

/* h = f h + (1 - f) x, in the order in which the block reads. */
static void read_tile(void *ctx, int64_t tile)
{
    const struct recurrence *r = ctx;
    const struct channels b = channels_of(r, tile);
    real h[COLUMNS] = {0};
    for (int64_t s = 0; s < r->T; s++) {
        int64_t t = place_of(r, &b, s), at = (b.row * r->T + t) * r->D + b.first;
        const real *x = (const real *)r->x + at, *f = (const real *)r->f + at;
        real *y = (real *)r->h + at;
        if (b.step[t] == STEP_FIRST)
            memset(h, 0, sizeof(h));
        if (b.step[t] != STEP_OVER)
            for (int64_t i = 0; i < b.n; i++)
                h[i] = f[i] * h[i] + ((real)1 - f[i]) * x[i];
        for (int64_t i = 0; i < b.n; i++)
            y[i] = h[i];
    }
}

/* From the last place to the first: dh += dy, df += dh (h_before - x), dx += dh (1 - f), and then
 * dh = dh f. */
static void unread_tile(void *ctx, int64_t tile)
{
    const struct recurrence *r = ctx;
    const struct channels b = channels_of(r, tile);
    static const real nothing[COLUMNS] = {0};
    real dh[COLUMNS] = {0};
    for (int64_t s = r->T - 1; s >= 0; s--) {
        int64_t t = place_of(r, &b, s), at = (b.row * r->T + t) * r->D + b.first;
        const real *x = (const real *)r->x + at, *f = (const real *)r->f + at;
        const real *dy = (const real *)r->dy + at;
        for (int64_t i = 0; i < b.n; i++)
            dh[i] += dy[i];
        if (b.step[t] == STEP_OVER)
            continue;
        bool first = b.step[t] == STEP_FIRST;
        const real *before = first ? nothing : (const real *)r->h + at + (b.right ? r->D : -r->D);
        real *dx = r->dx ? (real *)r->dx + at : NULL, *df = r->df ? (real *)r->df + at : NULL;
        if (df)
            for (int64_t i = 0; i < b.n; i++)
                df[i] += dh[i] * (before[i] - x[i]);
        if (dx)
            for (int64_t i = 0; i < b.n; i++)
                dx[i] += dh[i] * ((real)1 - f[i]);
        for (int64_t i = 0; i < b.n; i++)
            dh[i] = first ? (real)0 : dh[i] * f[i];
    }
}

const struct recurrence_rows AT_LEVEL(recurrence_rows) = {read_tile, unread_tile};
