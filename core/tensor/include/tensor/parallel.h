/* SPDX-License-Identifier: MIT */
/*
 * parallel.h: the only way to use more than one core; only parallel.c includes omp.h.
 *
 * Work is cut into tiles whose number and size never depend on the number of threads, and each tile
 * writes to memory of its own. Sums over tiles are combined in tile order by the caller. So the
 * bits are the same at any thread count.
 */
#pragma once

#include "base/base.h"

/* The threads and libraries that one cell computes with. */
struct team {
    int threads;
    /* gemm multiplies matrices (NULL before gemm_start); rest multiplies those that gemm refuses
     * (NULL: gemm refuses none). */
    const struct peat_gemm_provider *gemm, *rest;
    struct bf16_products *bf16; /* NULL: no products round their operands */
};

/* Call once per process, before any other function here. Sets the OpenMP runtime, and with it the
 * libraries of providers, to one thread; only parallel_for uses more. */
void parallel_start(void);

typedef void (*tile_fn)(void *ctx, int64_t tile);
/* fn(ctx, t) for t in 0..n-1, on the team's threads; the calling thread takes part. team may be
 * NULL: one thread. */
void parallel_for(const struct team *team, int64_t n, tile_fn fn, void *ctx);

typedef void (*range_fn)(void *ctx, int64_t begin, int64_t end);
/* [0, n) cut into ranges of `grain` elements (the last may be shorter). */
void parallel_ranges(const struct team *team, int64_t n, int64_t grain, range_fn fn, void *ctx);

/* Index of the calling thread inside a region, 0 outside: for scratch memory only. */
int parallel_thread(void);
