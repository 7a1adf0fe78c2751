/* SPDX-License-Identifier: MIT */
/* gemm_openblas.c: products by OpenBLAS, on one thread each. */
#include <cblas.h>
#include <limits.h>

#include "tensor/gemm.h"

static peat_status start(struct error *err)
{
    int build = openblas_get_parallel();
    if (build != OPENBLAS_OPENMP)
        return error_set(err, PEAT_FAILED,
                         "this program needs the OpenMP build of OpenBLAS, but the %s build was "
                         "loaded; install libopenblas-openmp-dev and run the program with its own "
                         "RPATH",
                         build == OPENBLAS_THREAD ? "pthread" : "serial");
    openblas_set_num_threads(1);
    return PEAT_OK;
}

static const char *library(void)
{
    return openblas_get_config();
}

static const char *kernels(void)
{
    return openblas_get_corename();
}

static blasint blas_int(int64_t x)
{
    BUG_UNLESS(x <= INT_MAX);
    return (blasint)x;
}

static void multiply(const struct gemm *p)
{
    CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE tb = p->trans_b ? CblasTrans : CblasNoTrans;
    blasint m = blas_int(p->m), n = blas_int(p->n), k = blas_int(p->k);
    blasint lda = blas_int(p->lda), ldb = blas_int(p->ldb), ldc = blas_int(p->ldc);
    if (p->dtype == PEAT_F32)
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                    (float)p->beta, p->c, ldc);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, p->beta, p->c,
                    ldc);
}

const struct gemm_provider gemm_openblas = {"openblas", start, library, kernels,
                                            multiply,   NULL,  NULL};
