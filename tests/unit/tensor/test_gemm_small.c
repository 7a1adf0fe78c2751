/* SPDX-License-Identifier: MIT */
/* test_gemm_small.c: the engine's own small products have the library's bits, or are left to it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/rng.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/gemm.h"

/* ---- products ---- */

struct sizes {
    int64_t m, n, k;
};

static const struct sizes sizes[] = {
    {64, 64, 16}, {64, 16, 64}, {17, 33, 65}, {1, 32, 16},   {5, 1, 9},    {3, 130, 7},
    {2, 2, 2},    {8, 33, 512}, {5, 17, 900}, {64, 128, 32}, {8, 40, 384}, {9, 20, 385},
    {58, 8, 58},  {7, 23, 40},  {35, 11, 32}, {3, 3, 64},    {1, 8, 33},   {6, 24, 100},
};
enum { SIZES = sizeof(sizes) / sizeof(*sizes), FORMS = 16 };

/* Few numbers again and again, of a count that no row has. */
static float *drawn(int64_t n, const char *name)
{
    enum { DRAWN = 1009 };
    float *x = malloc((size_t)n * sizeof(*x));
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n && i < DRAWN; i++)
        x[i] = (float)(2.0 * rng_uniform(rng_stream(1, "gemm_small", name), (uint64_t)i) - 1.0);
    for (int64_t i = DRAWN; i < n; i++)
        x[i] = x[i - DRAWN];
    return x;
}

/* Transposed by the bits of `form`, with an alpha that rounds or none, added or not. */
static struct gemm shaped(const struct sizes *s, int form)
{
    struct gemm p = {.dtype = PEAT_F32, .m = s->m, .n = s->n, .k = s->k};
    p.trans_a = (form & 1) != 0;
    p.trans_b = (form & 2) != 0;
    p.alpha = (form & 4) != 0 ? (double)0.17677669f : 1.0;
    p.beta = (form & 8) != 0 ? 1.0 : 0.0;
    p.lda = (p.trans_a ? p.m : p.k) + 3;
    p.ldb = (p.trans_b ? p.k : p.n) + 5;
    p.ldc = p.n + 2;
    return p;
}

static float *product(const struct team *team, struct gemm p, const char *numbers)
{
    float *a = drawn((p.m + p.k) * (p.lda + 1), "a"),
          *b = drawn((p.n + p.k) * (p.ldb + 1), numbers);
    float *c = drawn(p.m * p.ldc, "c");
    for (int64_t i = 0; i < p.m * p.ldc && p.beta == 0.0; i++)
        c[i] = i % p.ldc < p.n ? NAN : c[i];
    p.a = a;
    p.b = b;
    p.c = c;
    gemm_one(team, &p);
    free(a);
    free(b);
    return c;
}

/* ---- libraries ---- */

/* LANES and LAST_LANES are OpenBLAS's for small products with AVX-512; the last two are no chains
 * from zero on. */
enum manner {
    SCALED_SUM,
    FUSED_SUM,
    SCALED_RIGHT,
    STRAIGHT,
    LANES,
    LAST_LANES,
    BACKWARDS,
    FROM_FIRST
};

static struct {
    enum manner manner;
    int calls;
} library;

static int64_t piece_of(int64_t left)
{
    const int64_t deepest = 384;
    if (left <= deepest)
        return left;
    return library.manner == STRAIGHT || left >= 2 * deepest ? deepest : (left + 1) / 2;
}

static float element(const void *x, bool trans, int64_t ld, int64_t i, int64_t j)
{
    return ((const float *)x)[trans ? j * ld + i : i * ld + j];
}

static float chain(const peat_gemm_product *p, int64_t i, int64_t j, int64_t at, int64_t n)
{
    volatile float sum = library.manner == FROM_FIRST ? -0.0f : 0.0f;
    for (int64_t step = 0; step < n; step++) {
        int64_t k = library.manner == BACKWARDS ? at + n - 1 - step : at + step;
        volatile float right = element(p->b, p->trans_b, p->ldb, k, j);
        if (library.manner == SCALED_RIGHT)
            right *= (float)p->alpha;
        sum = fmaf(element(p->a, p->trans_a, p->lda, i, k), right, sum);
    }
    return sum;
}

static bool in_lanes(const peat_gemm_product *p, int64_t j)
{
    return library.manner == LANES || (library.manner == LAST_LANES && j >= p->n / 16 * 16);
}

/* Sixteen chains, of every sixteenth k; rows and columns that are in no whole four fold halves. */
static float chains(const peat_gemm_product *p, int64_t i, int64_t j)
{
    const bool fold = i >= p->m / 4 * 4 && j >= p->n / 4 * 4;
    volatile float x[16] = {0};
    for (int64_t k = 0; k < p->k; k++)
        x[k % 16] = fmaf(element(p->a, p->trans_a, p->lda, i, k),
                         element(p->b, p->trans_b, p->ldb, k, j), x[k % 16]);
    for (int n = 8; n > 0; n /= 2)
        for (int l = 0; l < n; l++)
            x[l] = fold ? x[l] + x[l + n] : x[2 * l] + x[2 * l + 1];
    return x[0];
}

static float with_old(const peat_gemm_product *p, float sum, float old)
{
    const float alpha = library.manner == SCALED_RIGHT ? 1.0f : (float)p->alpha;
    if (library.manner == FUSED_SUM)
        return fmaf(alpha, sum, old);
    volatile float scaled = alpha * sum;
    return scaled + old;
}

static peat_status multiply(const peat_gemm_product *p)
{
    library.calls++;
    for (int64_t i = 0; i < p->m; i++)
        for (int64_t j = 0; j < p->n; j++) {
            float *c = (float *)p->c + i * p->ldc + j;
            float y = p->beta == 0.0 ? -0.0f : *c; /* -0 changes no sum */
            for (int64_t at = 0, n; at < p->k; at += n) {
                n = in_lanes(p, j) ? p->k : piece_of(p->k - at);
                y = with_old(p, in_lanes(p, j) ? chains(p, i, j) : chain(p, i, j, at, n), y);
            }
            *c = y;
        }
    return PEAT_OK;
}

static void identify(char *name, char *kernels, size_t n)
{
    snprintf(name, n, "plain");
    snprintf(kernels, n, "manner %d", (int)library.manner);
}

static const peat_gemm_provider plain = {.magic = PEAT_GEMM_MAGIC,
                                         .size = sizeof(plain),
                                         .name = "plain",
                                         .identify = identify,
                                         .multiply = multiply};

static struct team team_with(const peat_gemm_provider *provider, int shared)
{
    struct team team = {.threads = 1, .gemm = provider};
    gemm_start_small(&team, shared);
    return team;
}

static bool missing(const struct team *team)
{
    return team->small == NULL; /* this CPU lacks the instructions */
}

/* ---- tests ---- */

static void check_same(const struct gemm *p, float *got, float *wanted)
{
    ck_assert_mem_eq(got, wanted, (size_t)(p->m * p->ldc) * sizeof(*got));
    free(got);
    free(wanted);
}

static const char *const providers[] = {"onednn", "openblas"};

START_TEST(products_have_the_bits_of_the_library_that_is_installed)
{
    struct team alone = team_by(providers[_i % 2], 1), team = alone;
    gemm_start_small(&team, -1);
    for (int form = 0; form < FORMS; form++) {
        struct gemm p = shaped(&sizes[_i / 2], form);
        check_same(&p, product(&team, p, "b"), product(&alone, p, "b"));
        check_same(&p, product(&team, p, "others"), product(&alone, p, "others"));
    }
    gemm_stop(&team);
}
END_TEST

/* With B as rows there is no memory in which it could be scaled, and none for many deep chains. */
static bool has_a_way(const struct gemm *p)
{
    const bool scales = library.manner == SCALED_RIGHT && p->alpha != 1.0;
    const bool side_by_side = library.manner == LANES || library.manner == LAST_LANES;
    return (!scales || p->trans_b) && (!side_by_side || p->k <= 384);
}

START_TEST(a_library_of_chains_is_asked_only_until_its_manner_is_known)
{
    library.manner = (enum manner)(_i / SIZES);
    struct team alone = {.threads = 1, .gemm = &plain}, team = team_with(&plain, -1);
    for (int form = 0; form < FORMS && !missing(&team); form++) {
        struct gemm p = shaped(&sizes[_i % SIZES], form);
        check_same(&p, product(&team, p, "b"), product(&alone, p, "b"));
        float *wanted = product(&alone, p, "others");
        library.calls = 0;
        check_same(&p, product(&team, p, "others"), wanted);
        if (has_a_way(&p))
            ck_assert_int_eq(library.calls, 0);
    }
    gemm_stop(&team);
}
END_TEST

/* One that begins with the first product differs where all products are zeros. */
START_TEST(a_library_that_adds_in_another_way_multiplies_itself)
{
    library.manner = _i / 2 == 0 ? BACKWARDS : FROM_FIRST;
    struct team alone = {.threads = 1, .gemm = &plain}, team = team_with(&plain, -1);
    struct gemm p = shaped(&sizes[_i % 2], 2);
    for (int again = 0; again < 2 && !missing(&team); again++) {
        float *wanted = product(&alone, p, "b");
        library.calls = 0;
        check_same(&p, product(&team, p, "b"), wanted);
        ck_assert_int_ge(library.calls, 1);
    }
    gemm_stop(&team);
}
END_TEST

static int calls_of(const struct team *team, const struct gemm *p)
{
    library.calls = 0;
    free(product(team, *p, "b"));
    return library.calls;
}

START_TEST(what_one_process_found_another_of_its_library_knows)
{
    const int shared = gemm_share();
    struct gemm p = shaped(&sizes[0], 2);
    library.manner = SCALED_SUM;
    struct team first = team_with(&plain, shared);
    if (!missing(&first)) {
        ck_assert_int_ge(shared, 0);
        ck_assert_int_gt(calls_of(&first, &p), 0);
        struct team second = team_with(&plain, shared);
        ck_assert_int_eq(calls_of(&second, &p), 0);
        gemm_stop(&second);
        library.manner = FUSED_SUM; /* and with it the library's name */
        struct team other = team_with(&plain, shared);
        ck_assert_int_gt(calls_of(&other, &p), 0);
        gemm_stop(&other);
    }
    gemm_stop(&first);
    close(shared);
}
END_TEST

START_TEST(however_many_shapes_there_are_each_is_tried_once)
{
    enum { SHAPES = 700 };
    library.manner = SCALED_SUM;
    struct team team = team_with(&plain, -1);
    for (int again = 0; again < 2 && !missing(&team); again++)
        for (int64_t n = 1; n <= SHAPES; n++) {
            const struct gemm p = shaped(&(struct sizes){2, n, 3}, 0);
            const int calls = calls_of(&team, &p);
            ck_assert_msg(again ? calls == 0 : calls > 0, "%d calls for %d", calls, (int)n);
        }
    gemm_stop(&team);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){
            "gemm_small", .seconds = 60,
            .loops = LOOPS(
                {products_have_the_bits_of_the_library_that_is_installed, 2 * SIZES},
                {a_library_of_chains_is_asked_only_until_its_manner_is_known, BACKWARDS * SIZES},

                {a_library_that_adds_in_another_way_multiplies_itself, 4})},
        TESTS(what_one_process_found_another_of_its_library_knows,
              however_many_shapes_there_are_each_is_tried_once));
}
