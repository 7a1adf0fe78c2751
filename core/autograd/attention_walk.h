/* SPDX-License-Identifier: MIT */
/* attention_walk.h: tasks of fused attention. A task walks over the blocks of query rows of a
 * (batch, head) pair; the products of a block are computed in one of two ways. */
#pragma once

#include "rows/attention_rows.h"
#include "stacks.h"

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

/* The products of a block: s the logits, p = exp(s - lse), out = p v and, by Dao et al. 2022,
 * appendix B.2, ds = p (dout v' - sum(dout out)). Gradients are added, or written where fresh. */
struct attention_products {
    /* Bytes of a thread's own memory for packed operands; NULL: no such memory. */
    size_t (*bytes)(const struct attention *c);
    /* Called with the first block of a task. Returns t->packed for all its blocks. */
    void *(*begin)(const struct attention_tile *t);
    void (*scores)(const struct attention_tile *t);  /* p = scale q k' */
    void (*outputs)(const struct attention_tile *t); /* out = p v      */
    void (*dv)(const struct attention_tile *t);      /* dv += p' dout  */
    void (*weights)(const struct attention_tile *t); /* ds = dout v'   */
    void (*dq)(const struct attention_tile *t);      /* dq += scale ds k  */
    void (*dk)(const struct attention_tile *t);      /* dk += scale ds' q */
    /* Called after the last block of a backward task; may be NULL. */
    void (*end)(const struct attention_tile *t);
    bool upwards; /* backward goes from the last block to the first */
};
/* The products on operands in place; and on operands packed as bf16, only for F32. */
extern const struct attention_products attention_plain, attention_rounded;

/* For parallel_for; `call` is a struct attention. A task is a (batch, head) pair; a slot is its
 * number in the present wave of backward tasks. */
void attention_forward_task(void *call, int64_t task);
void attention_backward_task(void *call, int64_t slot);

/* Rows [first, first + rows) of x [B,H,T,C], for the tile's batch and head. */
struct stack attention_rows_from(const struct tensor *x, const struct attention_tile *t,
                                 int64_t first, int64_t rows);
/* Clears rows [first, first + rows) of the tile's head. */
void attention_clear_rows(const struct tensor *x, const struct attention_tile *t, int64_t first,
                          int64_t rows);
