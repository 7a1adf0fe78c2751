/* SPDX-License-Identifier: MIT */
/* test_bf16.c: rounding to bf16 by the CPU and by arithmetic, and products of rounded operands. */
#include "tensor/bf16.h"

#include "support/products.h"
#include "support/support.h"
#include "tensor/gemm.h"

/* ---- rounding ---- */

typedef void (*round_fn)(bf16 *, const float *, float, int64_t, int64_t, int64_t);
static const round_fn ways[] = {bf16_round_rows, bf16_round_plainly};

static float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof(x));
    return x;
}

LOOP_TEST(rounding_is_to_the_nearest_and_between_two_to_the_even_one, 2)
{
    static const struct {
        uint32_t from;
        bf16 to;
    } known[] = {
        {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f808001, 0x3f81}, {0x3f818000, 0x3f82},
        {0x3f817fff, 0x3f81}, {0xbf818000, 0xbf82}, {0x3fffffff, 0x4000}, {0x7f7fffff, 0x7f80},
        {0xff7fffff, 0xff80}, {0x7f7f7fff, 0x7f7f}, {0x7f800000, 0x7f80}, {0xff800000, 0xff80},
        {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x00800000, 0x0080}, {0x007fffff, 0x0000},
        {0x807fffff, 0x8000}, {0x00000001, 0x0000},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        float x = from_bits(known[i].from);
        bf16 y = 0x1234;
        ways[_i](&y, &x, 1.0f, 1, 1, 1);
        ck_assert_msg(y == known[i].to, "%08x became %04x, not %04x", known[i].from, y,
                      known[i].to);
    }
}

LOOP_TEST(nan_stays_nan, 2)
{
    static const uint32_t nan[] = {0x7fc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff};
    for (size_t i = 0; i < sizeof(nan) / sizeof(*nan); i++) {
        float x = from_bits(nan[i]);
        bf16 y = 0;
        ways[_i](&y, &x, 1.0f, 1, 1, 1);
        ck_assert_msg(isnan(bf16_value(y)), "%08x became %04x", nan[i], y);
    }
}

/* Of all numbers with 8 bits of significand around x, by arithmetic alone. */
static float nearest(float x)
{
    int e;
    double m = frexp((double)x, &e) * 256.0;
    return (float)ldexp(nearbyint(m), e - 8);
}

LOOP_TEST(rows_of_any_length_and_step_are_rounded_without_touching_what_is_beside, 2)
{
    enum { ROWS = 3, MOST = 70 };
    uint64_t stream = rng_stream(2, "bf16", "rows");
    for (int64_t cols = 1; cols < MOST; cols++)
        for (int64_t step = cols; step <= cols + 5; step += 5) {
            float from[ROWS * (MOST + 5)];
            bf16 to[ROWS * MOST + 1];
            for (int64_t i = 0; i < ROWS * step; i++)
                from[i] = (float)((rng_uniform(stream, (uint64_t)(i + cols * 1000)) - 0.5) *
                                  pow(10.0, (double)(i % 60 - 30)));
            to[ROWS * cols] = 0x1234;
            ways[_i](to, from, 0.3f, ROWS, cols, step);
            for (int64_t r = 0; r < ROWS; r++)
                for (int64_t j = 0; j < cols; j++)
                    ck_assert(bf16_value(to[r * cols + j]) == nearest(0.3f * from[r * step + j]));
            ck_assert_int_eq(to[ROWS * cols], 0x1234);
        }
}

TEST(numbers_are_scaled_by_bf16_of_any_count_and_none_beside_them)
{
    enum { MOST = 70 };
    uint64_t stream = rng_stream(3, "bf16", "scale");
    for (int64_t n = 0; n <= MOST; n++) {
        float x[MOST + 1], before[MOST + 1];
        bf16 by[MOST + 1];
        for (int64_t i = 0; i <= n; i++) {
            float factor = 4.0f * (float)rng_uniform(stream, (uint64_t)(i + 100 * n)) - 2.0f;
            x[i] = before[i] = (float)rng_uniform(stream, (uint64_t)(i + 100 * n + 10000)) - 0.5f;
            bf16_round(&by[i], &factor, 1);
        }
        bf16_scale(x, by, n);
        for (int64_t i = 0; i < n; i++)
            ck_assert(x[i] == before[i] * bf16_value(by[i]));
        ck_assert(x[n] == before[n]);
    }
}

/* ---- products ---- */

static const int64_t sizes[][3] = {
    {1, 1, 1},     {3, 5, 7},      {130, 70, 103}, {1, 64, 64},    {64, 1, 64},
    {300, 96, 33}, {512, 128, 64}, {100, 700, 40}, {32, 48, 2100}, {800, 16, 1100},
};
enum { N_SIZES = sizeof(sizes) / sizeof(*sizes) };

static float *random_floats(int64_t n, const char *name)
{
    float *x = malloc((size_t)n * sizeof(*x));
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(2.0 * rng_uniform(rng_stream(1, "bf16", name), (uint64_t)i) - 1.0);
    return x;
}

/* The operand as products see it, in double precision. */
static double *rounded(const float *x, float scale, int64_t n)
{
    double *y = malloc((size_t)n * sizeof(*y));
    bf16 *narrow = malloc((size_t)n * sizeof(*narrow));
    ck_assert(y != NULL && narrow != NULL);
    bf16_round_rows(narrow, x, scale, 1, n, n);
    for (int64_t i = 0; i < n; i++)
        y[i] = (double)bf16_value(narrow[i]);
    free(narrow);
    return y;
}

static struct team started(int threads)
{
    struct error err = {0};
    struct team team = team_by("auto", threads);
    ck_assert_msg(gemm_start_bf16(&team, &err) == PEAT_OK, "%s", err.text);
    return team;
}

/* Operands with spare columns. */
struct operands {
    struct gemm p;
    float *a, *b, *c, *before, *bias;
    int64_t na, nb, nc;
};

static struct operands operands(const int64_t *size, int flags)
{
    struct operands o = {.p = {.dtype = PEAT_F32, .rounds = true, .alpha = 0.3}};
    struct gemm *p = &o.p;
    p->m = size[0];
    p->n = size[1];
    p->k = size[2];
    p->trans_a = (flags & 1) != 0;
    p->trans_b = (flags & 2) != 0;
    p->beta = (flags & 4) != 0 ? 1.0 : 0.0;
    p->lda = (p->trans_a ? p->m : p->k) + 3;
    p->ldb = (p->trans_b ? p->k : p->n) + 1;
    p->ldc = p->n + (flags & 1);
    o.na = (p->trans_a ? p->k : p->m) * p->lda;
    o.nb = (p->trans_b ? p->n : p->k) * p->ldb;
    o.nc = p->m * p->ldc;
    p->a = o.a = random_floats(o.na, "a");
    p->b = o.b = random_floats(o.nb, "b");
    p->c = o.c = random_floats(o.nc, "c");
    o.before = random_floats(o.nc, "c");
    o.bias = random_floats(p->n, "bias");
    p->bias = p->trans_a != p->trans_b && p->beta == 0.0 ? o.bias : NULL;
    return o;
}

static void release(struct operands *o)
{
    free(o->a);
    free(o->b);
    free(o->c);
    free(o->before);
    free(o->bias);
}

/* Sums in F32 of k products that are exact: each addition errs by half a unit at most. */
static void check_against_double(const struct operands *o)
{
    const struct gemm *p = &o->p;
    double *a = rounded(o->a, 0.3f, o->na), *b = rounded(o->b, 1.0f, o->nb);
    int64_t a_row = p->trans_a ? 1 : p->lda, a_step = p->trans_a ? p->lda : 1;
    int64_t b_column = p->trans_b ? p->ldb : 1, b_step = p->trans_b ? 1 : p->ldb;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            double sum = p->beta != 0.0 ? (double)o->before[i * p->ldc + j] : 0.0;
            sum += p->bias != NULL ? (double)o->bias[j] : 0.0;
            double size = fabs(sum);
            for (int64_t k = 0; k < p->k; k++) {
                double x = a[i * a_row + k * a_step] * b[j * b_column + k * b_step];
                sum += x;
                size += fabs(x);
            }
            double most = (double)(p->k + 3) * 0x1p-24 * size;
            ck_assert_msg(fabs((double)o->c[i * p->ldc + j] - sum) <= most,
                          "%.9g at %d, %d, not %.9g", (double)o->c[i * p->ldc + j], (int)i, (int)j,
                          sum);
        }
    free(a);
    free(b);
    for (int64_t i = 0; p->ldc > p->n && i < p->m; i++)
        ck_assert(o->c[i * p->ldc + p->n] == o->before[i * p->ldc + p->n]);
}

TEST(openblas_refuses_and_says_who_would_not)
{
    struct error err = {0};
    struct team team = team_by("openblas", 1);
    ck_assert_int_eq(gemm_start_bf16(&team, &err), PEAT_INVALID);
    ck_assert_msg(strstr(err.text, "oneDNN") || strstr(err.text, "onednn"), "%s", err.text);
    ck_assert_ptr_null(team.bf16);
    gemm_stop(&team);
}

GROUP(products)

LOOP_TEST(a_product_is_the_one_of_its_rounded_operands, 8 * N_SIZES)
{
    struct operands o = operands(sizes[_i / 8], _i % 8);
    struct team team = started(2);
    gemm_run(&team, &o.p);
    check_against_double(&o);
    gemm_stop(&team);
    release(&o);
}

LOOP_TEST(a_long_product_is_the_one_of_its_rounded_operands, 2 * N_SIZES)
{
    struct operands o = operands(sizes[_i / 2], 1 | (_i % 2) << 2);
    struct team team = started(2);
    size_t bytes = gemm_long_bytes(&o.p);
    void *scratch = bytes > 0 ? malloc(bytes) : NULL;
    gemm_run_long(&team, &o.p, scratch);
    check_against_double(&o);
    free(scratch);
    gemm_stop(&team);
    release(&o);
}

LOOP_TEST(a_product_has_the_same_bits_at_any_thread_count, 8 * N_SIZES)
{
    struct operands o = operands(sizes[_i / 8], _i % 8);
    float *first = malloc((size_t)o.nc * sizeof(*first));
    for (int threads = 1; threads <= 4; threads *= 2) {
        struct team team = started(threads);
        memcpy(o.c, o.before, (size_t)o.nc * sizeof(*o.c));
        gemm_run(&team, &o.p);
        if (threads == 1)
            memcpy(first, o.c, (size_t)o.nc * sizeof(*first));
        ck_assert_mem_eq(first, o.c, (size_t)o.nc * sizeof(*first));
        gemm_stop(&team);
    }
    free(first);
    release(&o);
}

LOOP_TEST(an_operand_may_be_rounded_before, 8 * N_SIZES)
{
    struct operands o = operands(sizes[_i / 8], _i % 8);
    struct team team = started(2);
    void *b16 = malloc(gemm_rounded_bytes(&team, PEAT_F32, o.nb));
    gemm_round(&team, b16, o.b, o.nb);
    o.p.b16 = b16;
    o.p.ldb16 = o.p.ldb;
    gemm_run(&team, &o.p);
    check_against_double(&o);
    free(b16);
    gemm_stop(&team);
    release(&o);
}

LOOP_TEST(both_operands_may_be_rounded_before_and_be_all_there_is, 4 * N_SIZES)
{
    struct operands o = operands(sizes[_i / 4], _i / 2 % 2 == 1 ? 6 : 1);
    struct team team = started(2);
    bf16 *a16 = malloc((size_t)o.na * sizeof(*a16)), *b16 = malloc((size_t)o.nb * sizeof(*b16));
    bf16_round_rows(a16, o.a, 0.3f, 1, o.na, o.na);
    bf16_round(b16, o.b, o.nb);
    o.p.alpha = 1.0;
    o.p.a = o.p.b = NULL;
    o.p.a16 = a16;
    o.p.b16 = b16;
    o.p.lda16 = o.p.lda;
    o.p.ldb16 = o.p.ldb;
    size_t bytes = _i % 2 == 1 ? gemm_long_bytes(&o.p) : 0;
    void *scratch = bytes > 0 ? malloc(bytes) : NULL;
    if (_i % 2 == 1)
        gemm_run_long(&team, &o.p, scratch);
    else
        gemm_run(&team, &o.p);
    check_against_double(&o);
    free(scratch);
    free(a16);
    free(b16);
    gemm_stop(&team);
    release(&o);
}

TEST(only_products_that_say_so_are_rounded)
{
    struct operands o = operands((int64_t[]){96, 96, 96}, 0);
    struct team team = started(1), plain = team;
    plain.bf16 = NULL;
    float *want = malloc((size_t)o.nc * sizeof(*want));
    gemm_run(&plain, &o.p);
    memcpy(want, o.c, (size_t)o.nc * sizeof(*want));
    o.p.rounds = false;
    gemm_run(&team, &o.p);
    ck_assert_mem_eq(want, o.c, (size_t)o.nc * sizeof(*want));
    ck_assert_uint_eq(gemm_rounded_bytes(&plain, PEAT_F32, 7), 0);
    ck_assert_uint_eq(gemm_rounded_bytes(&team, PEAT_F64, 7), 0);
    o.p.rounds = true;
    gemm_run(&team, &o.p);
    ck_assert_mem_ne(want, o.c, (size_t)o.nc * sizeof(*want));
    free(want);
    gemm_stop(&team);
    release(&o);
}

TEST(nan_in_an_operand_reaches_the_result_and_old_results_do_not)
{
    struct operands o = operands((int64_t[]){64, 64, 64}, 0);
    struct team team = started(1);
    for (int64_t i = 0; i < o.nc; i++)
        o.c[i] = NAN;
    o.a[5 * o.p.lda + 7] = NAN;
    gemm_run(&team, &o.p);
    for (int64_t i = 0; i < o.p.m; i++)
        for (int64_t j = 0; j < o.p.n; j++)
            ck_assert_int_eq(isnan(o.c[i * o.p.ldc + j]) != 0, i == 5);
    gemm_stop(&team);
    release(&o);
}

TEST(products_of_one_team_differ_in_each_part_of_their_shape)
{
    struct team team = started(1);
    for (int round = 0; round < 2; round++)
        for (int flags = 0; flags < 8; flags++)
            for (int longer = 0; longer < 4; longer++) {
                int64_t size[3] = {48, 48, 48};
                for (int i = 0; i < 3; i++)
                    size[i] += longer == i + 1 ? 16 : 0;
                struct operands o = operands(size, flags);
                gemm_run(&team, &o.p);
                check_against_double(&o);
                release(&o);
            }
    gemm_stop(&team);
}

/* More than are kept. */
TEST(more_shapes_than_are_kept_are_all_right)
{
    enum { SHAPES = 600 };
    struct operands o = operands((int64_t[]){SHAPES, 2, 4}, 4);
    struct team team = started(1);
    for (int64_t m = 1; m <= SHAPES; m++) {
        struct operands part = o;
        part.p.m = m;
        memcpy(o.c, o.before, (size_t)o.nc * sizeof(*o.c));
        gemm_run(&team, &part.p);
        if (m % 100 == 1 || m > SHAPES - 2)
            check_against_double(&part);
    }
    gemm_stop(&team);
    release(&o);
}

/* A cell that was begun with products of another kind is not continued with these. */
TEST(kernels_name_the_way_of_rounding_where_there_is_one)
{
    struct arena arena;
    struct team team = started(1), plain = team;
    const char *libraries, *kernels, *without;
    plain.bf16 = NULL;
    arena_init(&arena, "test", 1 << 10);
    gemm_identify(&team, &arena, &libraries, &kernels);
    gemm_identify(&plain, &arena, &libraries, &without);
    ck_assert_ptr_nonnull(strstr(kernels, " + bf16 3"));
    ck_assert_ptr_null(strstr(without, " + bf16 "));
    arena_release(&arena);
    gemm_stop(&team);
}

int main(void)
{
    struct error missing = {0};
    int end = run_tests((struct tests){"bf16", .seconds = 120});
    use_built_plugins();
    if (gemm_check_bf16("auto", &missing) == PEAT_OK)
        return end | run_tests((struct tests){"bf16", .seconds = 120, .group = "products"});
    printf("products are not tested: %s\n", missing.text);
    return end;
}
