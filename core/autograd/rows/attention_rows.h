/* SPDX-License-Identifier: MIT */
/* attention_rows.h: rows of attention scores, a block of query rows at a time. */
#pragma once

#include "autograd/ops.h"
#include "tensor/levels.h"

enum { BLOCK_MOST = 128 }; /* query rows at a time */

/* An operand stretched to [B,H,Tq,Tk]; data NULL: absent. */
struct plane {
    const void *data;
    int64_t stride[4];
};

/* Gradient sums of one wave: [slot, rows, columns]; sums NULL: not needed. */
struct partial {
    void *sums;
    int64_t rows, columns;
};

/* The arguments of one call, the same for all its tasks. */
struct attention {
    const struct attention_products *by; /* attention_walk.h */
    const struct team *team;
    peat_dtype dtype;
    int64_t B, H, Tq, Tk, C, Cv;
    int64_t block; /* query rows at a time                     */
    int64_t width; /* elements of a row of scores, whole lanes */
    double scale;
    struct attention_mask mask;
    bool scores;              /* backward: an operand other than v needs a gradient */
    struct tensor q, k, v;    /* [B,H,T,C]                                    */
    struct tensor dq, dk, dv; /* the same; data NULL: not needed              */
    bool fresh[3];            /* dq, dk, dv are not cleared yet               */
    struct tensor out, dout;  /* [B,Tq,H,Cv]; dout: data NULL in forward      */
    struct plane score_add, bias, rel;
    struct partial score_add_sums, bias_sums, rel_sums;
    void *lse;                      /* [B,H,Tq]                   */
    char *scratch;                  /* scratch memory of all threads */
    size_t thread_bytes, packed_at; /* bytes for one thread; offset of packed operands in it */
    bool rounds;                    /* products are of bf16, and tiles begin at even keys */
    int64_t first;                  /* task of this wave's slot 0 */
};

/* A block of query rows of one task. */
struct attention_tile {
    const struct attention *call;
    int64_t b, h, slot;
    int64_t i0, rows; /* number of queries */
    int64_t j0, cols; /* number of keys that any of the rows may see */
    int64_t padded;   /* cols rounded up to whole lanes */
    void *p;          /* [rows, width] logits, then weights */
    void *ds;         /* [rows, width] their gradients      */
    void *row;        /* [rows]                             */
    void *lse, *out, *dout;
    int64_t out_step; /* strides between rows of out and dout */
    void *packed;     /* operands that `begin` packed for the task */
};

/* Keys [lo, hi) that some query in [first, last] may see, apart from padding and documents. */
static inline void key_range(const struct attention *c, int64_t first, int64_t last, int64_t *lo,
                             int64_t *hi)
{
    const struct attention_mask *mask = &c->mask;
    *lo = 0;
    *hi = c->Tk;
    if (mask->causal)
        *hi = at_most(*hi, mask->offset + last + 1);
    if (mask->window > 0) {
        *lo = at_least(*lo, mask->offset + first - mask->window + 1);
        *hi = at_most(*hi, mask->offset + last + mask->window);
    }
    *hi = at_least(*hi, 0);
    *lo = at_most(*lo, *hi);
}

/* The row functions of a dtype. */
struct attention_rows {
    /* p = exp(logits - max), row = 1 / sum(p), lse */
    void (*weigh)(const struct attention_tile *);
    /* out *= row */
    void (*divide)(const struct attention_tile *);
    /* p = exp(logits - lse), row = sum(dout out) */
    void (*weigh_again)(const struct attention_tile *);
    /* ds = p (ds - row), which is added to the sums of operands too */
    void (*score_grads)(const struct attention_tile *);
};

LEVEL_TABLES(attention_rows)
