/* SPDX-License-Identifier: MIT */
/*
 * attention_tile.h: what the ways to multiply in fused attention have in common beside the rows
 * between products.
 */
#ifndef AUTOGRAD_ATTENTION_TILE_H
#define AUTOGRAD_ATTENTION_TILE_H

#include "rows/attention_rows.h"

enum {
    SRC_Q,
    SRC_K,
    SRC_V,
    SRC_SCORE_ADD,
    SRC_BIAS,
    SRC_REL,
    N_SRC,
    OPTIONAL_SRC = 1 << SRC_SCORE_ADD | 1 << SRC_BIAS | 1 << SRC_REL
};
/* The block of task (b, h) that begins at query i0. */
struct attention_tile attention_tile_at(const struct attention *c, int64_t task, int64_t i0);

/* A matrix as a product sees it. */
struct matrix {
    void *data;
    int64_t step; /* between rows */
    bool trans;
};
/* Row i of head h of batch b of a [B,H,T,C] tensor, and all rows after it. */
struct matrix attention_rows_from(const struct tensor *t, int64_t b, int64_t h, int64_t i);

#endif
