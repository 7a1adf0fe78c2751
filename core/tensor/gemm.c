/* SPDX-License-Identifier: MIT */
/* gemm.c: OpenBLAS behind fixed blocks. */
#include "tensor/gemm.h"

#include <cblas.h>
#include <limits.h>

#include "tensor/tensor.h"

peat_status gemm_start(struct error *err)
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

const char *gemm_library(void)
{
    return openblas_get_config();
}

const char *gemm_core(void)
{
    return openblas_get_corename();
}

/* k == 0: the product is zero. */
static void scale_rows(const struct gemm *p)
{
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            if (p->dtype == PEAT_F32) {
                float *c = (float *)p->c + i * p->ldc + j;
                *c = p->beta == 0.0 ? 0.0f : (float)p->beta * *c;
            } else {
                double *c = (double *)p->c + i * p->ldc + j;
                *c = p->beta == 0.0 ? 0.0 : p->beta * *c;
            }
        }
}

static void add_bias(const struct gemm *p)
{
    for (int64_t i = 0; i < p->m; i++) {
        if (p->dtype == PEAT_F32) {
            float *restrict c = (float *)p->c + i * p->ldc;
            const float *restrict b = p->bias;
            for (int64_t j = 0; j < p->n; j++)
                c[j] += b[j];
        } else {
            double *restrict c = (double *)p->c + i * p->ldc;
            const double *restrict b = p->bias;
            for (int64_t j = 0; j < p->n; j++)
                c[j] += b[j];
        }
    }
}

static blasint blas_int(int64_t x)
{
    BUG_UNLESS(x <= INT_MAX);
    return (blasint)x;
}

void gemm_one(const struct gemm *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    if (p->k == 0) {
        scale_rows(p);
    } else {
        CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans;
        CBLAS_TRANSPOSE tb = p->trans_b ? CblasTrans : CblasNoTrans;
        blasint m = blas_int(p->m), n = blas_int(p->n), k = blas_int(p->k);
        blasint lda = blas_int(p->lda), ldb = blas_int(p->ldb), ldc = blas_int(p->ldc);
        if (p->dtype == PEAT_F32)
            cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                        (float)p->beta, p->c, ldc);
        else
            cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, p->beta,
                        p->c, ldc);
    }
    if (p->bias != NULL)
        add_bias(p);
}

/* Eight blocks, fewer when they would get shorter than 64, more when longer than 256; multiples
 * of what the kernels work on. */
static int64_t block_length(int64_t n)
{
    int64_t blocks = n < 8 * 64 ? n / 64 : n <= 8 * 256 ? 8 : (n + 255) / 256;
    if (blocks < 2)
        return n;
    return ((n + blocks - 1) / blocks + 15) / 16 * 16;
}

static const void *element(const struct gemm *p, const void *base, int64_t offset)
{
    return (const char *)base + offset * (int64_t)dtype_bytes(p->dtype);
}

static void run_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct gemm *whole = ctx;
    struct gemm p = *whole;
    p.m = end - begin;
    p.a = element(whole, whole->a, whole->trans_a ? begin : begin * whole->lda);
    p.c = (char *)whole->c + begin * whole->ldc * (int64_t)dtype_bytes(whole->dtype);
    gemm_one(&p);
}

static void run_columns(void *ctx, int64_t begin, int64_t end)
{
    const struct gemm *whole = ctx;
    struct gemm p = *whole;
    p.n = end - begin;
    p.b = element(whole, whole->b, whole->trans_b ? begin * whole->ldb : begin);
    p.c = (char *)whole->c + begin * (int64_t)dtype_bytes(whole->dtype);
    p.bias = whole->bias == NULL ? NULL : element(whole, whole->bias, begin);
    gemm_one(&p);
}

void gemm_run(const struct team *team, const struct gemm *p)
{
    struct gemm whole = *p;
    if (p->m * p->n * p->k < 64 * 64 * 64)
        gemm_one(p);
    else if (p->m >= p->n || p->m >= 512)
        parallel_ranges(team, p->m, block_length(p->m), run_rows, &whole);
    else
        parallel_ranges(team, p->n, block_length(p->n), run_columns, &whole);
}
