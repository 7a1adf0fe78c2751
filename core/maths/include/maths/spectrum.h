/* SPDX-License-Identifier: MIT */
/*
 * spectrum.h: eigenvalues and singular values in double, by the LAPACK of the team's provider.
 *
 * LAPACK is used instead of own code because OpenBLAS includes it and its eigenvectors and singular
 * values are accurate. Its functions (dsyevd, dgesdd, dgeqrf, dorgqr) run on the calling thread: a
 * result has the same bits at any -t. Call gemm_start for the team before. All matrices are
 * row-major and without gaps. Work space comes from the arena and is given back.
 */
#pragma once

#include "tensor/parallel.h"

/* A table of the engine: F32, row-major, no gaps; borrowed and only read. */
struct matrix {
    const float *x; /* [rows, columns] */
    int64_t rows, columns;
};

/* Eigenvalues of the symmetric x [n, n], ascending, into value [n]. Only the lower triangle is
 * read. With `vectors`, row k of x becomes the unit eigenvector of value[k]; otherwise x is
 * overwritten. PEAT_FAILED: x is not finite, no convergence, or the provider has no LAPACK. */
peat_status spectrum_symmetric(const struct team *team, double *x, int64_t n, bool vectors,
                               double *value, struct arena *a, struct error *err);
/* Singular values of x [rows, columns], descending, into value [min(rows, columns)]. x is
 * overwritten. */
peat_status spectrum_singular(const struct team *team, double *x, int64_t rows, int64_t columns,
                              double *value, struct arena *a, struct error *err);
/* Replaces the rows of x [rows, columns], rows <= columns, by an orthonormal basis of their span
 * (Householder QR). */
peat_status spectrum_orthonormal(const struct team *team, double *x, int64_t rows, int64_t columns,
                                 struct arena *a, struct error *err);

/* The mean of the rows, summed in order, into mean [columns]. */
void matrix_mean(const struct matrix *m, double *mean);
/* Rows [begin, end) minus the mean, into out [end - begin, columns]. */
void matrix_centre(const struct matrix *m, const double *mean, int64_t begin, int64_t end,
                   double *out);
/* mean [columns]: over rows. covariance [columns, columns]: sum over rows of (x - mean)(x - mean)'
 * divided by rows, both triangles. Sums run over blocks of rows in order. */
void matrix_covariance(const struct team *team, const struct matrix *m, double *mean,
                       double *covariance, struct arena *a);

/* C [m, n] with rows of ldc = alpha X Y', X [m, k], Y [n, k]: each row of X with each of Y. */
void row_products(const struct team *team, const double *x, int64_t m, const double *y, int64_t n,
                  int64_t k, double alpha, double *c, int64_t ldc);
