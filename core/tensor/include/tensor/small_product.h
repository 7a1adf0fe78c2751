/* SPDX-License-Identifier: MIT */
/*
 * small_product.h: products of F32 that the engine computes itself, because a library spends more
 * on their call, on packing and on odd shapes than on multiplying.
 *
 * C [m,n] = alpha S + beta C. Each number of S is a chain of fused multiply-adds: it begins at zero
 * and adds op(A)(i, k) op(B)(k, j) in the order of k. alpha S, beta C and their sum are rounded one
 * after the other; beta == 0 does not read C. This order is the whole definition, so the bits are
 * the same on every processor and beside every library.
 */
#pragma once

#include <peat/gemm.h>

#include "tensor/levels.h"

enum {
    SMALL_PRODUCT_WORK = 1 << 21,   /* largest m n k; above it a library is as fast */
    SMALL_PRODUCT_DEEPEST = 1 << 10 /* largest k                                       */
};

/* A product under a causal mask: in one operand, as it is stored, row i has nothing in a column
 * beyond i + diagonal. There A has zeros, which are not multiplied, and C has numbers that nobody
 * needs, some of which are not written. What is computed has the same bits, if B is finite. */
enum lower_operand { LOWER_NONE, LOWER_A, LOWER_C };
struct lower {
    enum lower_operand operand;
    int64_t diagonal;
};

struct small_product {
    /* Runs on the calling thread; 0 < k <= SMALL_PRODUCT_DEEPEST. */
    void (*multiply)(const peat_gemm_product *p, struct lower lower);
};
LEVEL_TABLE(small_product, small_product)

static inline bool is_small_product(const peat_gemm_product *p)
{
    return p->dtype == PEAT_F32 && p->k <= SMALL_PRODUCT_DEEPEST &&
           p->m * p->n * p->k <= SMALL_PRODUCT_WORK;
}
