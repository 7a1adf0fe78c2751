/* SPDX-License-Identifier: MIT */
/* gemm.c: OpenBLAS behind fixed blocks. */
#include "tensor/gemm.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

#include "tensor/tensor.h"
#include "tensor/vecmath.h"

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

/* Every row of C becomes the bias: the library would write zeros there instead. */
static void fill_bias(const struct gemm *p)
{
    size_t size = dtype_bytes(p->dtype);
    for (int64_t i = 0; i < p->m; i++)
        memcpy((char *)p->c + (size_t)(i * p->ldc) * size, p->bias, (size_t)p->n * size);
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
    bool bias_first = p->bias != NULL && p->beta == 0.0 && p->k > 0;
    double beta = bias_first ? 1.0 : p->beta;
    if (bias_first)
        fill_bias(p);
    if (p->k == 0) {
        scale_rows(p);
    } else {
        CBLAS_TRANSPOSE ta = p->trans_a ? CblasTrans : CblasNoTrans;
        CBLAS_TRANSPOSE tb = p->trans_b ? CblasTrans : CblasNoTrans;
        blasint m = blas_int(p->m), n = blas_int(p->n), k = blas_int(p->k);
        blasint lda = blas_int(p->lda), ldb = blas_int(p->ldb), ldc = blas_int(p->ldc);
        if (p->dtype == PEAT_F32)
            cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, (float)p->alpha, p->a, lda, p->b, ldb,
                        (float)beta, p->c, ldc);
        else
            cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, p->alpha, p->a, lda, p->b, ldb, beta, p->c,
                        ldc);
    }
    if (p->bias != NULL && !bias_first)
        add_bias(p);
}

/*
 * The library packs the whole other operand once per block, so blocks are as long as they can be
 * while there are four, enough for the threads a cell gets: 128 to 512, multiples of what the
 * kernels work on.
 */
static int64_t block_length(int64_t n)
{
    enum { BLOCKS = 4, SHORTEST = 128, LONGEST = 512, UNIT = 16 };
    int64_t length = (n + BLOCKS - 1) / BLOCKS;
    length = length < SHORTEST ? SHORTEST : length > LONGEST ? LONGEST : length;
    return (length + UNIT - 1) / UNIT * UNIT;
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

/* A product in tiles of rows and pieces of k. */
struct long_product {
    struct gemm whole;
    int64_t row_blocks, rows; /* number, length of one */
    int64_t pieces, depth;    /* the same along k      */
    char *scratch;            /* [pieces - 1, m, n]    */
};

static struct long_product long_product(const struct gemm *p, void *scratch)
{
    enum { TILES = 4, LONG = 1024, UNIT = 16 };
    struct long_product l = {.whole = *p, .scratch = scratch, .row_blocks = 1};
    if (p->k < LONG || p->m * p->n < UNIT * UNIT)
        return l;
    l.row_blocks = p->m >= 1536 ? TILES : p->m >= 768 ? TILES / 2 : 1;
    l.rows = ((p->m + l.row_blocks - 1) / l.row_blocks + UNIT - 1) / UNIT * UNIT;
    l.row_blocks = (p->m + l.rows - 1) / l.rows;
    l.pieces = TILES / l.row_blocks > 1 ? TILES / l.row_blocks : 1;
    l.depth = ((p->k + l.pieces - 1) / l.pieces + UNIT - 1) / UNIT * UNIT;
    l.pieces = (p->k + l.depth - 1) / l.depth;
    return l;
}

size_t gemm_long_bytes(const struct gemm *p)
{
    struct long_product l = long_product(p, NULL);
    return l.pieces > 1 ? (size_t)((l.pieces - 1) * p->m * p->n) * dtype_bytes(p->dtype) : 0;
}

static void run_long_tile(void *ctx, int64_t tile)
{
    const struct long_product *l = ctx;
    const struct gemm *whole = &l->whole;
    int64_t piece = tile / l->row_blocks, row = tile % l->row_blocks * l->rows;
    int64_t at = piece * l->depth;
    struct gemm p = *whole;
    p.m = whole->m - row < l->rows ? whole->m - row : l->rows;
    p.k = whole->k - at < l->depth ? whole->k - at : l->depth;
    p.a = element(whole, whole->a, whole->trans_a ? at * p.lda + row : row * p.lda + at);
    p.b = element(whole, whole->b, whole->trans_b ? at : at * p.ldb);
    if (piece == 0) {
        p.c = (char *)whole->c + row * p.ldc * (int64_t)dtype_bytes(p.dtype);
    } else {
        p.beta = 0.0;
        p.bias = NULL;
        p.ldc = p.n;
        p.c = l->scratch + ((piece - 1) * whole->m + row) * p.n * (int64_t)dtype_bytes(p.dtype);
    }
    gemm_one(&p);
}

#define ADD_PIECES(name, real)                                                                     \
    VEC_LEVELS static void name(void *ctx, int64_t begin, int64_t end)                             \
    {                                                                                              \
        const struct long_product *l = ctx;                                                        \
        const struct gemm *p = &l->whole;                                                          \
        for (int64_t i = begin; i < end; i++)                                                      \
            for (int64_t piece = 1; piece < l->pieces; piece++) {                                  \
                real *restrict c = (real *)p->c + i * p->ldc;                                      \
                const real *restrict s =                                                           \
                    (const real *)(void *)l->scratch + ((piece - 1) * p->m + i) * p->n;            \
                for (int64_t j = 0; j < p->n; j++)                                                 \
                    c[j] += s[j];                                                                  \
            }                                                                                      \
    }
ADD_PIECES(add_pieces_f32, float)
ADD_PIECES(add_pieces_f64, double)

void gemm_run_long(const struct team *team, const struct gemm *p, void *scratch)
{
    enum { GRAIN = 16384 };
    struct long_product l = long_product(p, scratch);
    if (l.row_blocks * l.pieces <= 1) {
        gemm_run(team, p);
        return;
    }
    parallel_for(team, l.row_blocks * l.pieces, run_long_tile, &l);
    if (l.pieces > 1)
        parallel_ranges(team, p->m, GRAIN / p->n + 1,
                        p->dtype == PEAT_F32 ? add_pieces_f32 : add_pieces_f64, &l);
}
