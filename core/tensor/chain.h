/* SPDX-License-Identifier: MIT */
/*
 * chain.h: products of F32 on the calling thread, each number one chain of fused multiply-adds.
 *
 * Each number begins at zero and takes a(i, k) b(k, j) in the order of k, rounded once each. A long
 * k is cut into pieces, whose sums are added to c one after the other. Or a number is the sum of
 * sixteen such chains, each of every sixteenth k, as in OpenBLAS's kernels for small products. What
 * else libraries do in different ways is told by a `struct chain_way`.
 */
#ifndef TENSOR_CHAIN_H
#define TENSOR_CHAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <peat/gemm.h>

/* What becomes of the sum s, alpha and the number c that was there. */
enum chain_sum {
    CHAIN_SCALED_SUM,  /* c + (alpha s)                                             */
    CHAIN_FUSED_SUM,   /* alpha s + c, rounded once                                 */
    CHAIN_SCALED_RIGHT /* B is scaled first, then c + s; for a transposed B alone   */
};

/* How a k of more than CHAIN_DEEPEST is cut. */
enum chain_cut {
    CHAIN_HALVED,  /* the last two pieces are of one length */
    CHAIN_STRAIGHT /* all but the last have CHAIN_DEEPEST   */
};
enum { CHAIN_DEEPEST = 384, CHAIN_COLUMNS = 64 };

/* Which columns are sums of sixteen chains, in which case k is not cut and the sum is scaled. */
enum chain_lanes {
    CHAIN_ALONE,      /* none                                */
    CHAIN_ALL_LANES,  /* all                                 */
    CHAIN_LAST_LANES, /* those behind the last whole sixteen */
};

struct chain_way {
    enum chain_sum sum;
    enum chain_cut cut;
    enum chain_lanes lanes;
};

/* Whether this CPU has the instructions; without them the next function may not be called. */
bool chain_available(void);
/* beta is 0 or 1. panel [CHAIN_DEEPEST, CHAIN_COLUMNS] is the calling thread's, for a transposed B,
 * which with chains side by side is no deeper. */
void chain_multiply(const peat_gemm_product *p, struct chain_way way, float *panel);

#endif
