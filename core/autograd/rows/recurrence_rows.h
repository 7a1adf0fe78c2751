/* SPDX-License-Identifier: MIT */
/* recurrence_rows.h: a block of channels through the places of a row. */
#pragma once

#include "tensor/levels.h"
#include "tensor/parallel.h"

enum { COLUMNS = 64 }; /* channels of a tile */

/* How a channel continues at a place: from the last place, from zero, or not at all (padding). */
enum step { STEP_NEXT, STEP_FIRST, STEP_OVER };

struct recurrence {
    int64_t B, T, D, from_left, left_blocks, blocks;
    const uint8_t *step; /* [2,B,T]: read from the left, and from the right */
    const void *x, *f, *dy;
    void *h, *dx, *df; /* dx, df NULL: not needed */
};

/* Channels [first, first + n) of one row. */
struct channels {
    int64_t row, first, n;
    bool right;
    const uint8_t *step; /* [T] */
};

/* The place that is read after s others. */
static inline int64_t place_of(const struct recurrence *r, const struct channels *b, int64_t s)
{
    return b->right ? r->T - 1 - s : s;
}

static inline struct channels channels_of(const struct recurrence *r, int64_t tile)
{
    int64_t k = tile % r->blocks;
    struct channels b = {.row = tile / r->blocks, .right = k >= r->left_blocks};
    int64_t begin = b.right ? r->from_left : 0, end = b.right ? r->D : r->from_left;
    b.first = begin + (b.right ? k - r->left_blocks : k) * COLUMNS;
    b.n = end - b.first < COLUMNS ? end - b.first : COLUMNS;
    b.step = r->step + ((b.right ? r->B : 0) + b.row) * r->T;
    return b;
}

struct recurrence_rows {
    tile_fn read, unread;
};
LEVEL_TABLES(recurrence_rows)
