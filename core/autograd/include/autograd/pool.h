/* SPDX-License-Identifier: MIT */
/*
 * pool.h: blocks of a step's memory that are free again, for use within the same step.
 *
 * A backward pass works from the end of the tape: the newest blocks, which are still in the caches,
 * become free first and are used first.
 */
#pragma once

#include "base/base.h"

enum { POOL_BLOCKS = 64 };

struct pool {
    struct pool_block {
        unsigned char *data;
        size_t bytes;
    } block[POOL_BLOCKS]; /* in the order in which they were given back */
    int n;
};

/* Returns the smallest free block that is large enough (the newest of equals), or memory from the
 * arena; not cleared and 64-byte aligned. NULL: out of memory. */
void *pool_take(struct pool *p, struct arena *a, size_t bytes);
/* Gives back a block of `bytes` that pool_take or arena_try_alloc returned. When the pool is full,
 * the block stays unused until the arena is reset. */
void pool_give(struct pool *p, void *data, size_t bytes);
