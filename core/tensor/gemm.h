/* SPDX-License-Identifier: MIT */
/*
 * gemm.h: matrix products by OpenBLAS; gemm.c alone includes cblas.h.
 *
 * OpenBLAS runs single-threaded inside our own regions, on row blocks that depend on the shape
 * alone: the result has the same bits at any thread count.
 */
#ifndef TENSOR_GEMM_H
#define TENSOR_GEMM_H

#include "base/error.h"
#include "tensor/parallel.h"

/* Checks that the OpenMP build of OpenBLAS was loaded (openblas_get_parallel() == 2) and pins it
 * to one thread. Otherwise PEAT_FAILED with what to install. Once per process. */
peat_status gemm_start(struct error *err);
/* "OpenBLAS 0.3.21 ..." and the kernel family it picked, e.g. "SkylakeX". */
const char *gemm_library(void);
const char *gemm_core(void);

/* C [m,n] = alpha * op(A) op(B) + beta * C, row-major, leading dimensions in elements.
 * op(A) is [m,k], op(B) is [k,n]. dtype F32 or F64. beta == 0 does not read C. */
struct gemm {
    peat_dtype dtype;
    bool trans_a, trans_b;
    int64_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    int64_t lda, ldb, ldc;
    const void *bias; /* [n], added to every row of the result; NULL: none */
};

/* On the calling thread: for use inside parallel_for. */
void gemm_one(const struct gemm *p);
/* Cut into fixed row blocks over the team. */
void gemm_run(const struct team *team, const struct gemm *p);
/* For a long k and a small C, as in gradients of weights: cut along k as well, where the library
 * loses least. Partial results go to `scratch` of gemm_long_bytes(p) bytes (NULL when 0) and are
 * added to C in order. */
size_t gemm_long_bytes(const struct gemm *p);
void gemm_run_long(const struct team *team, const struct gemm *p, void *scratch);

#endif
