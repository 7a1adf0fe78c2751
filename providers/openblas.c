/* SPDX-License-Identifier: MIT */
/* openblas.c: products by OpenBLAS, on one thread each, and its LAPACK. */
#include <cblas.h>
#include <limits.h>
#include <stdio.h>

#include <peat/gemm.h>

/* The Fortran interface: everything by address; the lengths of texts come last. */
void dsyevd_(const char *job, const char *triangle, const int *n, double *x, const int *ld,
             double *value, double *work, const int *n_work, int *iwork, const int *n_iwork,
             int *info, size_t job_length, size_t triangle_length);
void dgesdd_(const char *job, const int *m, const int *n, double *x, const int *ld, double *value,
             double *u, const int *ldu, double *vt, const int *ldvt, double *work,
             const int *n_work, int *iwork, int *info, size_t job_length);
void dgeqrf_(const int *m, const int *n, double *x, const int *ld, double *tau, double *work,
             const int *n_work, int *info);
void dorgqr_(const int *m, const int *n, const int *k, double *x, const int *ld, const double *tau,
             double *work, const int *n_work, int *info);

/* The pthread build has the same soname, and gains nothing from a second core here. */
static peat_status start(char *why, size_t n)
{
    int build = openblas_get_parallel();
    if (build != OPENBLAS_OPENMP) {
        snprintf(why, n,
                 "it needs the OpenMP build of OpenBLAS, but the %s build was loaded; install "
                 "libopenblas-openmp-dev, and do not override the library's RPATH",
                 build == OPENBLAS_THREAD ? "pthread" : "serial");
        return PEAT_FAILED;
    }
    openblas_set_num_threads(1);
    return PEAT_OK;
}

static void identify(char *library, char *kernels, size_t n)
{
    snprintf(library, n, "%s", openblas_get_config());
    snprintf(kernels, n, "%s", openblas_get_corename());
}

static bool fits(int64_t x)
{
    return x <= INT_MAX;
}

static peat_status multiply(const peat_gemm_product *p)
{
    if (!fits(p->m) || !fits(p->n) || !fits(p->k) || !fits(p->lda) || !fits(p->ldb) ||
        !fits(p->ldc))
        return PEAT_INVALID;
    CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE tb = p->trans_b ? CblasTrans : CblasNoTrans;
    blasint m = (blasint)p->m, n = (blasint)p->n, k = (blasint)p->k;
    blasint lda = (blasint)p->lda, ldb = (blasint)p->ldb, ldc = (blasint)p->ldc;
    if (p->dtype == PEAT_F32)
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                    (float)p->beta, p->c, ldc);
    else
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, p->beta, p->c,
                    ldc);
    return PEAT_OK;
}

static const peat_gemm_lapack lapack = {
    .size = sizeof(lapack),
    .dsyevd = dsyevd_,
    .dgesdd = dgesdd_,
    .dgeqrf = dgeqrf_,
    .dorgqr = dorgqr_,
};

static const peat_gemm_provider provider = {
    .magic = PEAT_GEMM_MAGIC,
    .size = sizeof(provider),
    .abi = PEAT_GEMM_ABI,
    .name = "openblas",
    .summary = "OpenBLAS, its OpenMP build: single and double precision, LAPACK",
    .licence = "MIT",
    .start = start,
    .identify = identify,
    .multiply = multiply,
    .lapack = &lapack,
};
PEAT_GEMM_DEFINE(provider)
PEAT_GEMM_BUILT_WITH(OPENBLAS_VERSION)
