/* SPDX-License-Identifier: MIT */
/* gemm.c: cuts products into blocks, and chooses the library or kernel that multiplies a block. */
#include "tensor/gemm.h"

#include "gemm_bf16.h"
#include "rows/loop_rows.h"
#include "tensor/bf16.h"

static bool rounds(const struct team *team, const struct gemm *p)
{
    return p->rounds && p->dtype == PEAT_F32 && team && team->bf16;
}

size_t gemm_rounded_bytes(const struct team *team, peat_dtype dtype, int64_t n)
{
    const struct gemm p = {.dtype = dtype, .rounds = true};
    return rounds(team, &p) ? (size_t)n * sizeof(bf16) : 0;
}

struct rounding {
    bf16 *to;
    const float *from;
};

static void round_range(void *ctx, int64_t begin, int64_t end)
{
    const struct rounding *r = ctx;
    bf16_round(r->to + begin, r->from + begin, end - begin);
}

void gemm_round(const struct team *team, void *to, const void *from, int64_t n)
{
    enum { GRAIN = 1 << 15 };
    parallel_ranges(team, n, GRAIN, round_range, &(struct rounding){to, from});
}

/* The product with one rounded copy of B for all blocks. */
static struct gemm with_rounded_b(const struct team *team, const struct gemm *p)
{
    struct gemm q = *p;
    if (rounds(team, p) && !p->b16 && p->k > 0 && p->n > 0) {
        q.b16 = bf16_products_round_b(team->bf16, p);
        q.ldb16 = p->trans_b ? p->k : p->n;
    }
    return q;
}

/* k == 0: the product is zero. */
static void scale_rows(const struct gemm *p)
{
    struct tensor c = tensor_shape(p->dtype, 2, (const int64_t[]){p->m, p->n});
    c.data = p->c;
    c.stride[0] = p->ldc;
    for (int64_t i = 0; i < p->m * p->n; i++)
        tensor_set(&c, i, p->beta == 0.0 ? 0.0 : p->beta * tensor_get(&c, i));
}

/* Fills every row of C with the bias, to which a library then adds the product. */
static void fill_bias(const struct gemm *p)
{
    size_t size = dtype_bytes(p->dtype);
    for (int64_t i = 0; i < p->m; i++)
        memcpy((char *)p->c + (size_t)(i * p->ldc) * size, p->bias, (size_t)p->n * size);
}

/* Sizes are valid here, so the only error is lack of memory. */
static void must_be_done(peat_status status, const char *provider)
{
    if (status == PEAT_NOMEM)
        out_of_memory("a matrix product");
    if (status != PEAT_OK)
        BUG("gemm '%s' cannot multiply: %s", provider, status_text(status));
}

static void multiply_by_library(const struct team *team, const peat_gemm_product *product)
{
    BUG_UNLESS(team && team->gemm);
    const peat_gemm_provider *provider = team->gemm;
    peat_status status = provider->multiply(product);
    if (status == PEAT_REFUSED && team->rest) {
        provider = team->rest;
        status = provider->multiply(product);
    }
    must_be_done(status, provider->name);
}

/* m, n, k > 0 and no bias. */
static void multiply(const struct team *team, const struct gemm *p)
{
    const peat_gemm_product product = {
        .size = sizeof(product),
        .dtype = p->dtype,
        .trans_a = p->trans_a,
        .trans_b = p->trans_b,
        .m = p->m,
        .n = p->n,
        .k = p->k,
        .alpha = p->alpha,
        .beta = p->beta,
        .a = p->a,
        .b = p->b,
        .c = p->c,
        .lda = p->lda,
        .ldb = p->ldb,
        .ldc = p->ldc,
    };
    if (is_small_product(&product))
        small_product_here()->multiply(&product, p->lower);
    else
        multiply_by_library(team, &product);
}

/* False: the product must be computed without bias, or in F32. */
static bool multiply_rounded(const struct team *team, const struct gemm *p)
{
    if (!rounds(team, p) || (p->bias && !bf16_products_add_bias(team->bf16)))
        return false;
    peat_status status = bf16_products_multiply(team->bf16, p);
    if (status == PEAT_REFUSED)
        return false;
    must_be_done(status, gemm_name(team));
    return true;
}

void gemm_one(const struct team *team, const struct gemm *p)
{
    if (p->m == 0 || p->n == 0)
        return;
    if (p->k > 0 && multiply_rounded(team, p))
        return;
    struct gemm q = *p;
    if (p->bias) {
        fill_bias(p);
        q.beta = 1.0;
        q.bias = NULL;
    }
    if (p->k == 0) {
        scale_rows(&q);
    } else if (!p->bias || !multiply_rounded(team, &q)) {
        if (!p->a || !p->b)
            q = bf16_products_widen(team->bf16, &q);
        multiply(team, &q);
    }
}

/*
 * The library packs the whole other operand once per block, so blocks are as long as possible while
 * there are at least four, enough for the threads of a cell: 128 to 512, multiples of the kernels'
 * tiles.
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

/* Moves an operand, plain and rounded, to row `row` and column `column` of its op. */
static void move(const struct gemm *p, bool trans, const void **wide, int64_t ld,
                 const void **rounded, int64_t ld16, int64_t row, int64_t column)
{
    const int64_t across = trans ? row : column, down = trans ? column : row;
    if (*wide)
        *wide = element(p, *wide, down * ld + across);
    if (*rounded)
        *rounded = (const bf16 *)*rounded + down * ld16 + across;
}

static void move_a(struct gemm *p, int64_t row, int64_t column)
{
    move(p, p->trans_a, &p->a, p->lda, &p->a16, p->lda16, row, column);
}

static void move_b(struct gemm *p, int64_t row, int64_t column)
{
    move(p, p->trans_b, &p->b, p->ldb, &p->b16, p->ldb16, row, column);
}

/* A product and the team that computes it. */
struct blocked {
    const struct team *team;
    struct gemm whole;
};

static void run_rows(void *ctx, int64_t begin, int64_t end)
{
    const struct blocked *b = ctx;
    const struct gemm *whole = &b->whole;
    struct gemm p = *whole;
    p.m = end - begin;
    move_a(&p, begin, 0);
    p.c = (char *)whole->c + begin * whole->ldc * (int64_t)dtype_bytes(whole->dtype);
    gemm_one(b->team, &p);
}

static void run_columns(void *ctx, int64_t begin, int64_t end)
{
    const struct blocked *b = ctx;
    const struct gemm *whole = &b->whole;
    struct gemm p = *whole;
    p.n = end - begin;
    move_b(&p, 0, begin);
    p.c = (char *)whole->c + begin * (int64_t)dtype_bytes(whole->dtype);
    p.bias = !whole->bias ? NULL : element(whole, whole->bias, begin);
    gemm_one(b->team, &p);
}

void gemm_run(const struct team *team, const struct gemm *p)
{
    if (p->m * p->n * p->k < 64 * 64 * 64) {
        gemm_one(team, p);
        return;
    }
    struct blocked b = {team, with_rounded_b(team, p)};
    if (p->m >= p->n || p->m >= 512)
        parallel_ranges(team, p->m, block_length(p->m), run_rows, &b);
    else
        parallel_ranges(team, p->n, block_length(p->n), run_columns, &b);
}

/* A product in tiles of rows and pieces along k. */
struct long_product {
    const struct team *team;
    struct gemm whole;
    int64_t row_blocks, rows; /* number of tiles, rows of one */
    int64_t pieces, depth;    /* the same for pieces along k */
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
    move_a(&p, row, at);
    move_b(&p, at, 0);
    if (piece == 0) {
        p.c = (char *)whole->c + row * p.ldc * (int64_t)dtype_bytes(p.dtype);
    } else {
        p.beta = 0.0;
        p.bias = NULL;
        p.ldc = p.n;
        p.c = l->scratch + ((piece - 1) * whole->m + row) * p.n * (int64_t)dtype_bytes(p.dtype);
    }
    gemm_one(l->team, &p);
}

static void add_pieces(void *ctx, int64_t begin, int64_t end)
{
    const struct long_product *l = ctx;
    const struct gemm *p = &l->whole;
    const struct loop_rows *rows = loop_rows_of(p->dtype);
    int64_t size = (int64_t)dtype_bytes(p->dtype);
    for (int64_t i = begin; i < end; i++)
        for (int64_t piece = 1; piece < l->pieces; piece++)
            rows->add((char *)p->c + i * p->ldc * size,
                      l->scratch + ((piece - 1) * p->m + i) * p->n * size, p->n);
}

void gemm_run_long(const struct team *team, const struct gemm *p, void *scratch)
{
    enum { GRAIN = 16384 };
    struct long_product l = long_product(p, scratch);
    if (l.row_blocks * l.pieces <= 1) {
        gemm_run(team, p);
        return;
    }
    l.team = team;
    if (l.row_blocks > 1)
        l.whole = with_rounded_b(team, p);
    parallel_for(team, l.row_blocks * l.pieces, run_long_tile, &l);
    if (l.pieces > 1)
        parallel_ranges(team, p->m, GRAIN / p->n + 1, add_pieces, &l);
}
