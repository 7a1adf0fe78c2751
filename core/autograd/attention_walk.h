/* SPDX-License-Identifier: MIT */
/*
 * attention_walk.h: tasks of fused attention, each of which walks over the blocks of query rows of
 * a (batch, head) pair, and the products of a block, which are computed in one of two ways.
 */
#ifndef AUTOGRAD_ATTENTION_WALK_H
#define AUTOGRAD_ATTENTION_WALK_H

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

/* A way to multiply. With s the logits, p = exp(s - lse) and out = p v (Dao et al. 2022, appendix
 * B.2), ds = p (dout v' - sum(dout out)); gradients are added, or written where they are fresh. */
struct attention_products {
    /* Bytes of a thread's own memory for packed operands; NULL: none. */
    size_t (*bytes)(const struct attention *c);
    /* Begins a task, whose first block is given; what it returns is t->packed of all blocks. */
    void *(*begin)(const struct attention_tile *t);
    void (*scores)(const struct attention_tile *t);  /* p = scale q k' */
    void (*outputs)(const struct attention_tile *t); /* out = p v      */
    void (*dv)(const struct attention_tile *t);      /* dv += p' dout  */
    void (*weights)(const struct attention_tile *t); /* ds = dout v'   */
    void (*dq)(const struct attention_tile *t);      /* dq += scale ds k  */
    void (*dk)(const struct attention_tile *t);      /* dk += scale ds' q */
    /* Ends the backward pass of a task; NULL: nothing is left to do. */
    void (*end)(const struct attention_tile *t);
    bool upwards; /* backward goes from the last block to the first */
};
/* Of operands where they stand; and of operands packed as bf16, for F32 alone. */
extern const struct attention_products attention_plain, attention_rounded;

/* tile_fn, of a struct attention: a task, and a slot of the wave. */
void attention_forward_task(void *call, int64_t task);
void attention_backward_task(void *call, int64_t slot);

/* A matrix as a product sees it. */
struct matrix {
    void *data;
    int64_t step; /* between rows */
    bool trans;
};
/* Row i of the tile's head of a [B,H,T,C] tensor, and all rows after it. */
struct matrix attention_rows_from(const struct tensor *x, const struct attention_tile *t,
                                  int64_t i);
/* Rows [first, first + rows) of the tile's head become 0. */
void attention_clear_rows(const struct tensor *x, const struct attention_tile *t, int64_t first,
                          int64_t rows);

#endif
