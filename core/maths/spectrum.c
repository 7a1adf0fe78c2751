/* SPDX-License-Identifier: MIT */
/*
 * spectrum.c: LAPACK for row-major matrices.
 *
 * LAPACK counts columns first: our rows are its columns, our lower triangle its upper one. Each
 * call asks for the size of its workspace first (a length of -1).
 */
#include "maths/spectrum.h"

#include "tensor/gemm.h"

static const int ask = -1;

/* info < 0 would be a mistake of ours */
static peat_status converged(int info, const char *what, int64_t rows, int64_t columns,
                             struct error *err)
{
    BUG_UNLESS(info >= 0);
    return info == 0
               ? PEAT_OK
               : error_set(err, PEAT_FAILED, "the %s of a matrix of %lld x %lld did not converge",
                           what, (long long)rows, (long long)columns);
}

/* triangle: only the lower triangle is checked. */
static bool check_finite(const double *x, int64_t rows, int64_t columns, bool triangle,
                         struct error *err)
{
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < (triangle ? i + 1 : columns); j++)
            if (!isfinite(x[i * columns + j]))
                return error_fail(err, PEAT_FAILED,
                                  "a matrix of %lld x %lld has %g in row %lld, column %lld",
                                  (long long)rows, (long long)columns, x[i * columns + j],
                                  (long long)i, (long long)j);
    return true;
}

/* Checks x and finds LAPACK's functions for it. NULL: PEAT_FAILED, also where the provider has no
 * LAPACK. */
static const peat_gemm_lapack *prepare(const struct team *team, const double *x, int64_t rows,
                                       int64_t columns, bool triangle, struct error *err)
{
    if (!check_finite(x, rows, columns, triangle, err))
        return NULL;
    const peat_gemm_lapack *lapack = gemm_lapack(team);
    if (!lapack)
        error_set(err, PEAT_FAILED,
                  "gemm '%s' has no eigenvalues or singular values; 'openblas' has",
                  gemm_name(team));
    return lapack;
}

static int lapack_int(int64_t n)
{
    BUG_UNLESS(n >= 0 && n <= INT_MAX);
    return (int)n;
}

static peat_status run_symmetric(const peat_gemm_lapack *lapack, double *x, int n, bool vectors,
                                 double *value, struct arena *a, struct error *err)
{
    const char *job = vectors ? "V" : "N";
    double work_wanted;
    int iwork_wanted, info;
    lapack->dsyevd(job, "U", &n, x, &n, value, &work_wanted, &ask, &iwork_wanted, &ask, &info, 1,
                   1);
    int n_work = (int)work_wanted, n_iwork = iwork_wanted;
    double *work = ARENA_ARRAY(a, n_work, double);
    int *iwork = ARENA_ARRAY(a, n_iwork, int);
    lapack->dsyevd(job, "U", &n, x, &n, value, work, &n_work, iwork, &n_iwork, &info, 1, 1);
    return converged(info, "eigenvalues", n, n, err);
}

peat_status spectrum_symmetric(const struct team *team, double *x, int64_t n, bool vectors,
                               double *value, struct arena *a, struct error *err)
{
    if (n == 0)
        return PEAT_OK;
    const peat_gemm_lapack *lapack = prepare(team, x, n, n, true, err);
    struct arena_mark mark = arena_mark(a);
    peat_status status =
        lapack ? run_symmetric(lapack, x, lapack_int(n), vectors, value, a, err) : PEAT_FAILED;
    arena_rewind(a, mark);
    return status;
}

static peat_status run_singular(const peat_gemm_lapack *lapack, double *x, int m, int n,
                                double *value, struct arena *a, struct error *err)
{
    int least = m < n ? m : n, one = 1, info;
    double none, work_wanted;
    int *iwork = ARENA_ARRAY(a, 8 * least, int);
    lapack->dgesdd("N", &m, &n, x, &m, value, &none, &one, &none, &one, &work_wanted, &ask, iwork,
                   &info, 1);
    int n_work = (int)work_wanted;
    double *work = ARENA_ARRAY(a, n_work, double);
    lapack->dgesdd("N", &m, &n, x, &m, value, &none, &one, &none, &one, work, &n_work, iwork, &info,
                   1);
    return converged(info, "singular values", n, m, err);
}

peat_status spectrum_singular(const struct team *team, double *x, int64_t rows, int64_t columns,
                              double *value, struct arena *a, struct error *err)
{
    if (rows == 0 || columns == 0)
        return PEAT_OK;
    const peat_gemm_lapack *lapack = prepare(team, x, rows, columns, false, err);
    struct arena_mark mark = arena_mark(a);
    peat_status status =
        lapack ? run_singular(lapack, x, lapack_int(columns), lapack_int(rows), value, a, err)
               : PEAT_FAILED;
    arena_rewind(a, mark);
    return status;
}

static void run_orthonormal(const peat_gemm_lapack *lapack, double *x, int m, int n,
                            struct arena *a)
{
    double wanted[2];
    int info;
    double *tau = ARENA_ARRAY(a, n, double);
    lapack->dgeqrf(&m, &n, x, &m, tau, &wanted[0], &ask, &info);
    lapack->dorgqr(&m, &n, &n, x, &m, tau, &wanted[1], &ask, &info);
    int n_work = (int)fmax(wanted[0], wanted[1]);
    double *work = ARENA_ARRAY(a, n_work, double);
    lapack->dgeqrf(&m, &n, x, &m, tau, work, &n_work, &info);
    BUG_UNLESS(info == 0);
    lapack->dorgqr(&m, &n, &n, x, &m, tau, work, &n_work, &info);
    BUG_UNLESS(info == 0);
}

peat_status spectrum_orthonormal(const struct team *team, double *x, int64_t rows, int64_t columns,
                                 struct arena *a, struct error *err)
{
    BUG_UNLESS(rows <= columns);
    if (rows == 0)
        return PEAT_OK;
    const peat_gemm_lapack *lapack = prepare(team, x, rows, columns, false, err);
    struct arena_mark mark = arena_mark(a);
    if (lapack)
        run_orthonormal(lapack, x, lapack_int(columns), lapack_int(rows), a);
    arena_rewind(a, mark);
    return lapack ? PEAT_OK : PEAT_FAILED;
}

/* ---- covariance ---- */

void matrix_mean(const struct matrix *m, double *mean)
{
    memset(mean, 0, (size_t)m->columns * sizeof(*mean));
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->columns; j++)
            mean[j] += (double)m->x[i * m->columns + j];
    for (int64_t j = 0; j < m->columns; j++)
        mean[j] /= (double)m->rows;
}

void matrix_centre(const struct matrix *m, const double *mean, int64_t begin, int64_t end,
                   double *out)
{
    for (int64_t i = begin; i < end; i++)
        for (int64_t j = 0; j < m->columns; j++)
            *out++ = (double)m->x[i * m->columns + j] - mean[j];
}

void matrix_covariance(const struct team *team, const struct matrix *m, double *mean,
                       double *covariance, struct arena *a)
{
    enum { BLOCK = 256 };
    int64_t n = m->rows, d = m->columns;
    struct arena_mark mark = arena_mark(a);
    double *block = ARENA_ARRAY(a, BLOCK * d, double);
    matrix_mean(m, mean);
    memset(covariance, 0, (size_t)(d * d) * sizeof(*covariance));
    for (int64_t begin = 0; begin < n; begin += BLOCK) {
        int64_t end = begin + BLOCK < n ? begin + BLOCK : n;
        matrix_centre(m, mean, begin, end, block);
        struct gemm p = {.dtype = PEAT_F64, .trans_a = true, .m = d, .n = d, .k = end - begin};
        p.alpha = 1.0 / (double)n;
        p.beta = 1.0;
        p.a = p.b = block;
        p.c = covariance;
        p.lda = p.ldb = p.ldc = d;
        gemm_one(team, &p);
    }
    arena_rewind(a, mark);
}

void row_products(const struct team *team, const double *x, int64_t m, const double *y, int64_t n,
                  int64_t k, double alpha, double *c, int64_t ldc)
{
    struct gemm p = {.dtype = PEAT_F64, .trans_b = true, .m = m, .n = n, .k = k, .alpha = alpha};
    p.a = x;
    p.b = y;
    p.c = c;
    p.lda = p.ldb = k;
    p.ldc = ldc;
    gemm_one(team, &p);
}
