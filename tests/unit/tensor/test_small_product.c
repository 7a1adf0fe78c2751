/* SPDX-License-Identifier: MIT */
/* test_small_product.c: small products have the bits that their definition gives, everywhere. */
#include "support/products.h"
#include "support/support.h"
#include "tensor/gemm.h"
#include "tensor/small_product.h"

struct sizes {
    int64_t m, n, k;
};

static const struct sizes sizes[] = {
    {64, 64, 16}, {64, 16, 64}, {17, 33, 65}, {1, 32, 16},   {5, 1, 9},    {3, 130, 7},
    {2, 2, 2},    {8, 33, 512}, {5, 17, 900}, {64, 128, 32}, {6, 24, 100}, {9, 20, 1024},
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), FORMS = 32 };

static float *drawn(int64_t n, const char *name)
{
    float *x = malloc((size_t)n * sizeof(*x));
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(2.0 * rng_uniform(rng_stream(1, "small_product", name), (uint64_t)i) - 1.0);
    return x;
}

/* A product of drawn numbers. Memory that it may not read, C where beta is 0 and columns between
 * rows, is NaN. */
struct drawn_product {
    peat_gemm_product p;
    float *a, *b, *c;
};

static float *operand(int64_t rows, int64_t columns, int64_t step, const char *name)
{
    float *x = drawn(rows * step, name);
    for (int64_t i = 0; i < rows * step; i++)
        x[i] = i % step < columns ? x[i] : NAN;
    return x;
}

/* Transposed by the bits of `form`, with an alpha that rounds or none, added to C by 1 or by half.
 */
static struct drawn_product draw(const struct sizes *s, int form)
{
    peat_gemm_product p = {.size = sizeof(p), .dtype = PEAT_F32, .m = s->m, .n = s->n, .k = s->k};
    p.trans_a = (form & 1) != 0;
    p.trans_b = (form & 2) != 0;
    p.alpha = (form & 4) != 0 ? (double)0.17677669f : 1.0;
    p.beta = (form & 8) == 0 ? 0.0 : (form & 16) != 0 ? 0.5 : 1.0;
    const int64_t a_columns = p.trans_a ? p.m : p.k, b_columns = p.trans_b ? p.k : p.n;
    p.lda = a_columns + 3;
    p.ldb = b_columns + 5;
    p.ldc = p.n + 2;
    struct drawn_product d = {p, operand(p.trans_a ? p.k : p.m, a_columns, p.lda, "a"),
                              operand(p.trans_b ? p.n : p.k, b_columns, p.ldb, "b"),
                              operand(p.m, p.beta == 0.0 ? 0 : p.n, p.ldc, "c")};
    d.p.a = d.a;
    d.p.b = d.b;
    d.p.c = d.c;
    return d;
}

static void drawn_free(struct drawn_product *d)
{
    free(d->a);
    free(d->b);
    free(d->c);
}

static float defined_number(const peat_gemm_product *p, int64_t i, int64_t j)
{
    const float *a = p->a, *b = p->b, *c = p->c;
    volatile float sum = 0.0f, scaled, old;
    for (int64_t k = 0; k < p->k; k++)
        sum = fmaf(a[p->trans_a ? k * p->lda + i : i * p->lda + k],
                   b[p->trans_b ? j * p->ldb + k : k * p->ldb + j], sum);
    scaled = (float)p->alpha * sum;
    if (p->beta == 0.0)
        return scaled;
    old = (float)p->beta * c[i * p->ldc + j];
    return old + scaled;
}

/* The product at one level has the defined numbers, but those of C that nobody needs. */
static void check(struct drawn_product *d, enum cpu_level level, struct lower lower)
{
    const size_t bytes = (size_t)(d->p.m * d->p.ldc) * sizeof(float);
    float *wanted = malloc(bytes);
    ck_assert_ptr_nonnull(wanted);
    memcpy(wanted, d->c, bytes);
    for (int64_t at = 0; at < d->p.m * d->p.n; at++)
        wanted[at / d->p.n * d->p.ldc + at % d->p.n] =
            defined_number(&d->p, at / d->p.n, at % d->p.n);
    small_product_at(level)->multiply(&d->p, lower);
    for (int64_t i = 0; i < d->p.m; i++)
        for (int64_t j = i + lower.diagonal + 1; lower.operand == LOWER_C && j < d->p.n; j++)
            if (j >= 0)
                d->c[i * d->p.ldc + j] = wanted[i * d->p.ldc + j];
    ck_assert_mem_eq(d->c, wanted, bytes);
    drawn_free(d);
    free(wanted);
}

LOOP_TEST(every_level_has_the_bits_of_the_definition, SIZES)
{
    for (int level = 0; level <= (int)level_here(); level++)
        for (int form = 0; form < FORMS; form++) {
            struct drawn_product d = draw(&sizes[_i], form);
            check(&d, (enum cpu_level)level, (struct lower){0});
        }
}

/* Beyond its diagonal A has zeros, as it is stored. */
static void clear_beyond(struct drawn_product *d, int64_t diagonal)
{
    const int64_t rows = d->p.trans_a ? d->p.k : d->p.m, columns = d->p.trans_a ? d->p.m : d->p.k;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = at_least(i + diagonal + 1, 0); j < columns; j++)
            d->a[i * d->p.lda + j] = 0.0f;
}

LOOP_TEST(products_of_triangles_have_the_bits_of_the_definition, SIZES)
{
    static const int64_t diagonals[FORMS / 4] = {-70, -3, 0, 1, 5, 11, 64, 1100};
    for (int level = 0; level <= (int)level_here(); level++)
        for (int form = 0; form < FORMS; form++) {
            struct drawn_product d = draw(&sizes[_i], form), e = draw(&sizes[_i], form);
            const int64_t diagonal = diagonals[form / 4];
            clear_beyond(&d, diagonal);
            check(&d, (enum cpu_level)level, (struct lower){LOWER_A, diagonal});
            check(&e, (enum cpu_level)level, (struct lower){LOWER_C, diagonal});
        }
}

/* Of libraries that the build has; larger products are theirs. */
LOOP_TEST(small_products_have_the_same_bits_beside_every_library, SIZES)
{
    static const char *const providers[] = {"onednn", "openblas"};
    struct drawn_product d = draw(&sizes[_i], 14);
    float *first = malloc((size_t)(d.p.m * d.p.ldc) * sizeof(float));
    ck_assert_ptr_nonnull(first);
    for (int which = 0; which < 2; which++) {
        struct team team = team_by(providers[which], 1);
        float *c = operand(d.p.m, d.p.n, d.p.ldc, "c");
        gemm_one(&team, &(struct gemm){.dtype = PEAT_F32,
                                       .trans_b = true,
                                       .m = d.p.m,
                                       .n = d.p.n,
                                       .k = d.p.k,
                                       .alpha = d.p.alpha,
                                       .beta = d.p.beta,
                                       .a = d.a,
                                       .b = d.b,
                                       .c = c,
                                       .lda = d.p.lda,
                                       .ldb = d.p.ldb,
                                       .ldc = d.p.ldc});
        if (which == 0)
            memcpy(first, c, (size_t)(d.p.m * d.p.ldc) * sizeof(float));
        ck_assert_mem_eq(c, first, (size_t)(d.p.m * d.p.ldc) * sizeof(float));
        free(c);
    }
    free(first);
    drawn_free(&d);
}

/* ---- which products these are ---- */

static int calls;

static peat_status count(const peat_gemm_product *p)
{
    (void)p;
    calls++;
    return PEAT_OK;
}

TEST(large_deep_and_double_products_are_the_librarys)
{
    static const struct {
        struct sizes size;
        peat_dtype dtype;
        int calls;
    } row[] = {{{128, 128, 128}, PEAT_F32, 0},
               {{128, 128, 129}, PEAT_F32, 1},
               {{1, 1, 1024}, PEAT_F32, 0},
               {{1, 1, 1025}, PEAT_F32, 1},
               {{2, 2, 2}, PEAT_F64, 1}};
    const peat_gemm_provider provider = {.multiply = count};
    const struct team team = {.threads = 1, .gemm = &provider};
    double *x = calloc(1 << 16, sizeof(*x)), *c = calloc(1 << 16, sizeof(*c));
    ck_assert(x && c);
    for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++) {
        const struct sizes *s = &row[i].size;
        calls = 0;
        gemm_one(&team, &(struct gemm){.dtype = row[i].dtype,
                                       .m = s->m,
                                       .n = s->n,
                                       .k = s->k,
                                       .alpha = 1.0,
                                       .a = x,
                                       .b = x,
                                       .c = c,
                                       .lda = s->k,
                                       .ldb = s->n,
                                       .ldc = s->n});
        ck_assert_int_eq(calls, row[i].calls);
    }
    free(x);
    free(c);
}

int main(void)
{
    return run_tests((struct tests){"small_product", .seconds = 60});
}
