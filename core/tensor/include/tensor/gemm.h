/* SPDX-License-Identifier: MIT */
/*
 * gemm.h: matrix products in fixed blocks; a library multiplies each block.
 *
 * Blocks depend on the shape alone, and a block is multiplied on one thread: the result has the
 * same bits at any thread count. Which library multiplies is the team's `gemm`. With the team's
 * `bf16`, F32 products that say so round their operands to bf16 and add up in F32: those by weights
 * do, in linear maps and feed-forward parts; the small ones of attention would gain nothing.
 */
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include "base/arena.h"
#include "base/error.h"
#include "tensor/parallel.h"

struct gemm;
struct bf16_products;

/* Products of operands that are rounded to bf16. State is one team's, apart for each thread. */
struct bf16_provider {
    /* NULL, or what this machine lacks. */
    const char *(*missing)(void);
    struct bf16_products *(*open)(int threads); /* NULL: no memory */
    void (*close)(struct bf16_products *);
    /* As multiply of gemm_provider, for F32; alpha is in what of A is rounded. false: the library
     * has no kernel for this shape. */
    bool (*multiply)(struct bf16_products *, const struct gemm *p);
    /* op(B)'s operand rounded, without gaps between rows, until the thread's next call. */
    const void *(*round_b)(struct bf16_products *, const struct gemm *p);
};

/* A library that multiplies. Its file alone includes the library's header. */
struct gemm_provider {
    const char *name; /* run.gemm's word */
    /* Once per process, after parallel_start: what has to hold before the first product. */
    peat_status (*start)(struct error *err);
    const char *(*library)(void); /* "OpenBLAS 0.3.21 ..."                   */
    const char *(*kernels)(void); /* those it picked for this CPU, "SkylakeX" */
    /* On the calling thread; m, n, k > 0 and no bias. */
    void (*multiply)(const struct gemm *p);
    const struct bf16_provider *bf16; /* NULL: it has no such products */
    /* What multiplies the products that this one leaves to another: NULL, nothing. */
    const struct gemm_provider *rest;
};

extern const struct gemm_provider gemm_openblas;
#ifdef PEAT_ONEDNN
extern const struct gemm_provider gemm_onednn;
#endif

/* What this build has, ended by NULL: "auto", which is the fastest of the others, comes first. */
extern const char *const gemm_words[];
/* Gives the team the provider of that name, ready for its first product. PEAT_INVALID: this build
 * has no such provider; PEAT_FAILED: what is wrong with the library. */
peat_status gemm_start(struct team *team, const char *name, struct error *err);

/* Every library that multiplies for the team, "oneDNN 2.6 + OpenBLAS 0.3.21 ...", and the kernels
 * that each has picked for this CPU, "avx2 + Haswell": together they decide the bits of products.
 */
void gemm_identify(const struct team *team, struct arena *a, const char **libraries,
                   const char **kernels);

/* NULL, or why a team with the provider of that name can't have bf16 products here. */
const char *gemm_bf16_missing(const char *name);
/* After gemm_start: F32 products with `rounds` are bf16 products from now on. PEAT_INVALID: what is
 * missing. gemm_stop_bf16 takes what a team has, if anything, and is due before it goes. */
peat_status gemm_start_bf16(struct team *team, struct error *err);
void gemm_stop_bf16(struct team *team);

/* C [m,n] = alpha * op(A) op(B) + beta * C, row-major, leading dimensions in elements.
 * op(A) is [m,k], op(B) is [k,n]. dtype F32 or F64. beta == 0 does not read C. */
struct gemm {
    peat_dtype dtype;
    bool trans_a, trans_b;
    bool rounds; /* a team's bf16 is for it */
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    const void *bias; /* [n], added to every row of the result; NULL: none */
    const void *b16;  /* B rounded before; NULL: not yet                   */
    int64_t ldb16;
};

/* For an operand B of many products: bytes of its rounded copy, 0 where the team does not round;
 * and the copy, over the team, for b16. */
size_t gemm_rounded_bytes(const struct team *team, peat_dtype dtype, int64_t n);
void gemm_round(const struct team *team, void *to, const void *from, int64_t n);

/* On the calling thread: for use inside parallel_for. */
void gemm_one(const struct team *team, const struct gemm *p);
/* Cut into fixed row blocks over the team. */
void gemm_run(const struct team *team, const struct gemm *p);
/* For a long k and a small C, as in gradients of weights: cut along k as well, where the library
 * loses least. Partial results go to `scratch` of gemm_long_bytes(p) bytes (NULL when 0) and are
 * added to C in order. */
size_t gemm_long_bytes(const struct gemm *p);
void gemm_run_long(const struct team *team, const struct gemm *p, void *scratch);

#endif
