/* SPDX-License-Identifier: MIT */
/*
 * pool.h: blocks of a step's memory that are done with, to be used again within the step.
 *
 * A backward pass works from the end of the tape: there the newest blocks, still in the caches,
 * become free first and are taken first.
 */
#pragma once

#include "base/base.h"

enum { POOL_BLOCKS = 64 };

struct pool {
    struct pool_block {
        unsigned char *data;
        size_t bytes;
    } block[POOL_BLOCKS]; /* in the order in which they were given */
    int n;
};

/* From the smallest block that is large enough, the newest of such, or from the arena; not cleared
 * and 64-byte aligned. NULL: out of memory. */
void *pool_take(struct pool *p, struct arena *a, size_t bytes);
/* What pool_take or arena_try_alloc returned for `bytes`. More than fits is forgotten until the
 * arena is reset. */
void pool_give(struct pool *p, void *data, size_t bytes);
