/* SPDX-License-Identifier: MIT */
/* convolution_rows.h: a block of channels of one row through its taps. */
#pragma once

#include "autograd/ops.h"
#include "tensor/levels.h"

enum { COLUMNS = 64 }; /* channels of a tile */

struct convolution {
    struct attention_mask mask;
    int64_t B, T, D, K, blocks;
    int64_t ahead; /* places after t that t reads */
    const void *x, *w, *dy;
    void *y, *dx, *dw; /* dw: [B,K,D] sums of each row */
};

/* Channels [first, first + n) of one row. */
struct channels {
    int64_t row, first, n;
};

/* Whether place t of the block's row reads place s. */
static inline bool reads(const struct convolution *c, const struct channels *b, int64_t t,
                         int64_t s)
{
    const struct attention_mask *m = &c->mask;
    if (s < 0 || s >= c->T)
        return false;
    int64_t i = b->row * c->T + t, j = b->row * c->T + s;
    return !(m->pad_k && m->pad_k[j]) && !(m->doc_k && m->doc_k[i] != m->doc_k[j]);
}

static inline struct channels channels_of(const struct convolution *c, int64_t tile)
{
    struct channels b = {.row = tile / c->blocks, .first = tile % c->blocks * COLUMNS};
    b.n = c->D - b.first < COLUMNS ? c->D - b.first : COLUMNS;
    return b;
}

struct convolution_rows {
    tile_fn convolve, spread, taps;
};
LEVEL_TABLES(convolution_rows)
