/* SPDX-License-Identifier: MIT */
/* convolution_rows.c: a block of channels of one row. */
#include "rows/convolution_rows.h"

/* y_t = sum over k of w_k x_(t - k + ahead), over the places that t may read */
static void convolve(void *ctx, int64_t tile)
{
    const struct convolution *c = ctx;
    const struct channels b = channels_of(c, tile);
    const real *w = (const real *)c->w + b.first;
    for (int64_t t = 0; t < c->T; t++) {
        real sum[COLUMNS] = {0};
        for (int64_t k = 0; k < c->K; k++) {
            int64_t s = t - k + c->ahead;
            if (!reads(c, &b, t, s))
                continue;
            const real *x = (const real *)c->x + (b.row * c->T + s) * c->D + b.first;
            for (int64_t i = 0; i < b.n; i++)
                sum[i] += w[k * c->D + i] * x[i];
        }
        real *y = (real *)c->y + (b.row * c->T + t) * c->D + b.first;
        for (int64_t i = 0; i < b.n; i++)
            y[i] = sum[i];
    }
}

/* dx_s += sum over k of w_k dy_(s + k - ahead), where that reads s */
static void spread(void *ctx, int64_t tile)
{
    const struct convolution *c = ctx;
    const struct channels b = channels_of(c, tile);
    const real *w = (const real *)c->w + b.first;
    for (int64_t s = 0; s < c->T; s++) {
        real *dx = (real *)c->dx + (b.row * c->T + s) * c->D + b.first;
        for (int64_t k = 0; k < c->K; k++) {
            int64_t t = s + k - c->ahead;
            if (t < 0 || t >= c->T || !reads(c, &b, t, s))
                continue;
            const real *dy = (const real *)c->dy + (b.row * c->T + t) * c->D + b.first;
            for (int64_t i = 0; i < b.n; i++)
                dx[i] += w[k * c->D + i] * dy[i];
        }
    }
}

/* The row's own dw_k = sum over t of dy_t x_(t - k + ahead) */
static void taps(void *ctx, int64_t tile)
{
    const struct convolution *c = ctx;
    const struct channels b = channels_of(c, tile);
    for (int64_t k = 0; k < c->K; k++) {
        real sum[COLUMNS] = {0};
        for (int64_t t = 0; t < c->T; t++) {
            int64_t s = t - k + c->ahead;
            if (!reads(c, &b, t, s))
                continue;
            const real *x = (const real *)c->x + (b.row * c->T + s) * c->D + b.first;
            const real *dy = (const real *)c->dy + (b.row * c->T + t) * c->D + b.first;
            for (int64_t i = 0; i < b.n; i++)
                sum[i] += dy[i] * x[i];
        }
        real *dw = (real *)c->dw + (b.row * c->K + k) * c->D + b.first;
        for (int64_t i = 0; i < b.n; i++)
            dw[i] = sum[i];
    }
}

const struct convolution_rows AT_LEVEL(convolution_rows) = {convolve, spread, taps};
