/* SPDX-License-Identifier: MIT */
/*
 * gemm.h: matrix products in fixed blocks. The engine multiplies small blocks of F32 itself
 * (small_product.h); a library multiplies all others.
 *
 * Blocks depend only on the shape, and a block is multiplied on one thread: the result has the same
 * bits at any thread count. The team's `gemm` is that library. With the team's `bf16`, F32 products
 * with `rounds` set round their operands to bf16 and sum in F32: products by weights do so, in
 * linear maps and feed-forward parts. Attention uses tensor/dots.h instead.
 */
#pragma once

#include <peat/gemm.h>

#include "tensor/parallel.h"
#include "tensor/small_product.h"

/* PEAT_INVALID, with the names that exist, unless a provider has this name. Loads nothing. */
peat_status gemm_check(const char *name, struct error *err);
/* Gives the team the provider of that name (tensor/provider.h; "auto": the fastest that is
 * installed) and loads its library, so that it is ready for its first product. Call after
 * parallel_start; may be called again. PEAT_INVALID: no provider has that name; other errors say
 * why it did not start. */
peat_status gemm_start(struct team *team, const char *name, struct error *err);

/* The provider's own name, also where "auto" was asked for. */
const char *gemm_name(const struct team *team);
/* Every library that multiplies for the team, "oneDNN 2.6 + OpenBLAS 0.3.21 ...", and the kernels
 * that each picked for this CPU, "avx2 + Haswell"; with bf16 also how the engine rounds. Together
 * they decide the bits of products. */
void gemm_identify(const struct team *team, struct arena *a, const char **libraries,
                   const char **kernels);

/* PEAT_INVALID, with the reason, where the provider of that name has no bf16 products on this
 * machine. Loads the provider. */
peat_status gemm_check_bf16(const char *name, struct error *err);
/* Call after gemm_start: from now on F32 products with `rounds` are bf16 products. PEAT_INVALID: as
 * gemm_check_bf16. */
peat_status gemm_start_bf16(struct team *team, struct error *err);
/* Frees the memory of gemm_start_bf16; the provider stays open. */
void gemm_stop(struct team *team);

/* C [m,n] = alpha * op(A) op(B) + beta * C, row-major, leading dimensions in elements.
 * op(A) is [m,k], op(B) is [k,n]. dtype F32 or F64. beta == 0 does not read C. */
struct gemm {
    peat_dtype dtype;
    bool trans_a, trans_b;
    bool rounds; /* rounded to bf16 where the team has `bf16` */
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    const void *bias;   /* [n], added to every row of the product, with beta 0; NULL: no bias */
    struct lower lower; /* for gemm_one; libraries and rounded products compute everything */
    /* A and B, rounded earlier, for a team that rounds; NULL: not rounded yet. Where a16 is given,
     * alpha is 1, and a or b may be NULL. */
    const void *a16, *b16;
    int64_t lda16, ldb16;
};

/* For an operand of several products: the bytes of its rounded copy (0 where the team does not
 * round), and a function that makes the copy, over the team, for a16 or b16. */
size_t gemm_rounded_bytes(const struct team *team, peat_dtype dtype, int64_t n);
void gemm_round(const struct team *team, void *to, const void *from, int64_t n);

/* These need a team that gemm_start was called for, unless one of m, n and k is 0. */
/* On the calling thread: for use inside parallel_for. */
void gemm_one(const struct team *team, const struct gemm *p);
/* Cut into fixed row blocks over the team. */
void gemm_run(const struct team *team, const struct gemm *p);
/* For a long k and a small C, as in gradients of weights: cuts along k as well, where the library
 * loses least by it. Partial results are in `scratch` of gemm_long_bytes(p) bytes (NULL when 0) and
 * are added to C in order. */
size_t gemm_long_bytes(const struct gemm *p);
void gemm_run_long(const struct team *team, const struct gemm *p, void *scratch);
