/* SPDX-License-Identifier: MIT */
/* test_gemm.c: products against the plain triple loop, and the same bits at any thread count. */
#include "tensor/gemm.h"

#include "support/products.h"
#include "support/support.h"
#include "tensor/provider.h"

static const int64_t sizes[][3] = {
    {1, 1, 1},      {3, 5, 7},      {130, 70, 103}, {333, 77, 91},
    {17, 1003, 65}, {600, 128, 33}, {96, 384, 117}, {100, 100, 100},
};
enum { CASES = 4 * sizeof(sizes) / sizeof(*sizes) };

static double *filled(int64_t n, const char *name)
{
    double *x = malloc((size_t)n * sizeof(*x));
    ck_assert_ptr_nonnull(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 2.0 * rng_uniform(rng_stream(1, "gemm", name), (uint64_t)i) - 1.0;
    return x;
}

static float *narrowed(const double *x, int64_t n)
{
    float *y = malloc((size_t)n * sizeof(*y));
    ck_assert_ptr_nonnull(y);
    for (int64_t i = 0; i < n; i++)
        y[i] = (float)x[i];
    return y;
}

/* The words of run.gemm, ended by NULL: "auto" first. Outside of tests too. */
static const char *const *words(void)
{
    static const char *const *word;
    static struct arena arena;
    static struct providers found;
    if (word)
        return word;
    use_built_plugins();
    arena_init(&arena, "providers", 1 << 12);
    if (providers_find(&found, &arena, NULL) != PEAT_OK)
        abort();
    return word = providers_words(&found);
}

static int providers(void)
{
    int n = 0;
    while (words()[n])
        n++;
    return n;
}

/* Operands with two spare columns each. */
static struct gemm shaped(const int64_t *size, int flags)
{
    struct gemm p = {.dtype = PEAT_F64, .m = size[0], .n = size[1], .k = size[2]};
    p.trans_a = (flags & 1) != 0;
    p.trans_b = (flags & 2) != 0;
    p.lda = (p.trans_a ? p.m : p.k) + 2;
    p.ldb = (p.trans_b ? p.k : p.n) + 2;
    p.ldc = p.n + 2;
    p.alpha = 0.5;
    return p;
}

static double at(const double *x, int64_t ld, bool transposed, int64_t i, int64_t j)
{
    return transposed ? x[j * ld + i] : x[i * ld + j];
}

LOOP_TEST(products_match_the_plain_loop, CASES)
{
    struct team team = team_by("openblas", 2);
    struct gemm p = shaped(sizes[_i / 4], _i % 4);
    double *a = filled((p.m + p.k) * (p.lda + 2), "a"), *b = filled((p.k + p.n) * (p.ldb + 2), "b");
    double *c = filled(p.m * p.ldc, "c"), *before = filled(p.m * p.ldc, "c");
    double *bias = filled(p.n, "bias");
    p.a = a;
    p.b = b;
    p.c = c;
    p.beta = _i % 2 == 0 ? 0.25 : 0.0;
    p.bias = _i % 3 == 0 && p.beta == 0.0 ? bias : NULL;
    gemm_run(&team, &p);
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.ldc; j++) {
            double want = before[i * p.ldc + j];
            if (j < p.n) {
                double sum = 0.0;
                for (int64_t k = 0; k < p.k; k++)
                    sum += at(a, p.lda, p.trans_a, i, k) * at(b, p.ldb, p.trans_b, k, j);
                want = 0.5 * sum + p.beta * want + (p.bias ? bias[j] : 0.0);
            }
            ck_assert_double_eq_tol(c[i * p.ldc + j], want, 1e-11);
        }
    free(a);
    free(b);
    free(c);
    free(before);
    free(bias);
}

/* Every provider, close to the double-precision product. */
LOOP_TEST(single_precision_matches_and_has_the_same_bits_at_any_thread_count, CASES *providers())
{
    const char *provider = words()[_i % providers()];
    int which = _i / providers();
    struct gemm p = shaped(sizes[which / 4], which % 4);
    int64_t na = (p.m + p.k) * (p.lda + 2), nb = (p.k + p.n) * (p.ldb + 2), nc = p.m * p.ldc;
    double *a = filled(na, "a"), *b = filled(nb, "b"), *c = filled(nc, "c");
    float *fa = narrowed(a, na), *fb = narrowed(b, nb), *first = narrowed(c, nc);
    p.dtype = PEAT_F32;
    p.a = fa;
    p.b = fb;
    p.c = first;
    p.beta = 1.0;
    struct team alone = team_by(provider, 1);
    gemm_run(&alone, &p);
    for (int threads = 1; threads <= 4; threads *= 2) {
        struct team team = team_by(provider, threads);
        float *next = narrowed(c, nc);
        p.c = next;
        gemm_run(&team, &p);
        ck_assert_mem_eq(first, next, (size_t)nc * sizeof(*first));
        free(next);
    }
    p.dtype = PEAT_F64;
    p.a = a;
    p.b = b;
    p.c = c;
    gemm_run(&alone, &p);
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++)
            ck_assert_double_eq_tol((double)first[i * p.ldc + j], c[i * p.ldc + j], 5e-5);
    free(a);
    free(b);
    free(c);
    free(fa);
    free(fb);
    free(first);
}

/* Sums of differing length: one piece, several pieces, several blocks of rows. */
static const int64_t long_sizes[][3] = {
    {33, 20, 40}, {48, 24, 1500}, {130, 9, 1024}, {800, 5, 1111}, {1600, 4, 1030}};

/* op(A) is a transpose, as in the gradient of a weight; what stands in C is added to. */
LOOP_TEST(long_products_match_and_have_the_same_bits_at_any_thread_count,
          providers() * (int)(sizeof(long_sizes) / sizeof(*long_sizes)))
{
    const char *provider = words()[_i % providers()];
    struct gemm p = shaped(long_sizes[_i / providers()], 1);
    int64_t na = p.k * p.lda, nb = p.k * p.ldb, nc = p.m * p.ldc;
    double *a = filled(na, "a"), *b = filled(nb, "b"), *c = filled(nc, "c");
    float *fa = narrowed(a, na), *fb = narrowed(b, nb), *first = NULL;
    p.dtype = PEAT_F32;
    p.a = fa;
    p.b = fb;
    p.beta = 1.0;
    for (int threads = 1; threads <= 4; threads *= 2) {
        struct team team = team_by(provider, threads);
        size_t bytes = gemm_long_bytes(&p);
        float *next = narrowed(c, nc);
        void *scratch = bytes > 0 ? malloc(bytes) : NULL;
        p.c = next;
        gemm_run_long(&team, &p, scratch);
        free(scratch);
        first = first != NULL ? first : next;
        ck_assert_mem_eq(first, next, (size_t)nc * sizeof(*first));
        if (next != first)
            free(next);
    }
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t j = 0; j < p.n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < p.k; k++)
                sum += at(a, p.lda, true, i, k) * at(b, p.ldb, false, k, j);
            ck_assert_double_eq_tol((double)first[i * p.ldc + j], 0.5 * sum + c[i * p.ldc + j],
                                    1e-4);
        }
    free(a);
    free(b);
    free(c);
    free(fa);
    free(fb);
    free(first);
}

TEST(an_empty_inner_axis_gives_zero)
{
    double c[4] = {1.0, NAN, 3.0, 4.0}, unused[4] = {0};
    struct gemm p = {.dtype = PEAT_F64, .m = 2, .n = 2, .alpha = 1.0, .lda = 1, .ldb = 2, .ldc = 2};
    p.a = p.b = unused;
    p.c = c;
    gemm_run(NULL, &p);
    for (int i = 0; i < 4; i++)
        ck_assert(c[i] == 0.0);
    p.m = 0;
    gemm_run(NULL, &p);
}

LOOP_TEST(beta_zero_does_not_read_the_result, providers())
{
    struct team team = team_by(words()[_i], 1);
    float a[1] = {2.0f}, b[1] = {3.0f}, c[1] = {NAN};
    struct gemm p = {.dtype = PEAT_F32, .m = 1, .n = 1, .k = 1, .alpha = 1.0};
    p.lda = p.ldb = p.ldc = 1;
    p.a = a;
    p.b = b;
    p.c = c;
    gemm_run(&team, &p);
    ck_assert(c[0] == 6.0f);
}

/* The library for the rest decides bits as well. */
LOOP_TEST(every_library_that_multiplies_is_named_with_its_version_and_kernels, providers())
{
    struct team team = team_by(words()[_i], 1);
    struct arena a;
    const char *libraries, *kernels;
    arena_init(&a, "test", 1024);
    gemm_identify(&team, &a, &libraries, &kernels);
    if (strcmp(team.gemm->name, "onednn") == 0) {
        int version[4];
        ck_assert_int_eq(sscanf(libraries, "oneDNN %d.%d.%d + OpenBLAS %d", &version[0],
                                &version[1], &version[2], &version[3]),
                         4);
        ck_assert_ptr_nonnull(strstr(kernels, " + "));
    }
    ck_assert_ptr_nonnull(strstr(libraries, "OpenBLAS "));
    ck_assert(strlen(kernels) > 0);
    ck_assert(_i == 0 || strcmp(team.gemm->name, words()[_i]) == 0);
    arena_release(&a);
}

TEST(an_unknown_provider_is_refused_with_those_found_and_the_nearest)
{
    struct error err = {0};
    struct team team = {1, NULL};
    use_built_plugins();
    ck_assert_int_eq(gemm_start(&team, "openbas", &err), PEAT_INVALID);
    ck_assert_ptr_nonnull(strstr(err.text, "'openbas'; found: auto"));
    ck_assert_ptr_nonnull(strstr(err.text, "did you mean 'openblas'?"));
    ck_assert_ptr_null(team.gemm);
    ck_assert_int_eq(gemm_check("openbas", &err), PEAT_INVALID);
    ck_assert_int_eq(gemm_check("openblas", &err), PEAT_OK);
    ck_assert_int_eq(gemm_check("auto", &err), PEAT_OK);
}

struct marks {
    int count[100];
    int thread[100];
};

static void mark_tile(void *ctx, int64_t tile)
{
    struct marks *m = ctx;
    m->count[tile]++;
    m->thread[tile] = parallel_thread();
}

static void mark_range(void *ctx, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        ((struct marks *)ctx)->count[i]++;
}

TEST(every_tile_runs_once_whatever_the_team)
{
    parallel_start();
    for (int threads = 0; threads <= 4; threads++) {
        struct team team = {threads, NULL};
        struct marks m = {{0}, {0}};
        parallel_for(threads == 0 ? NULL : &team, 100, mark_tile, &m);
        parallel_ranges(threads == 0 ? NULL : &team, 97, 10, mark_range, &m);
        parallel_ranges(&team, 0, 10, mark_range, &m);
        for (int i = 0; i < 100; i++) {
            ck_assert_int_eq(m.count[i], i < 97 ? 2 : 1);
            ck_assert(m.thread[i] >= 0 && m.thread[i] < (threads < 1 ? 1 : threads));
        }
    }
}

struct nest {
    struct team team;
    int outer[8];
    bool differs[8];
};

static void inner_tile(void *ctx, int64_t tile)
{
    (void)tile;
    *(int *)ctx = parallel_thread();
}

static void outer_tile(void *ctx, int64_t tile)
{
    struct nest *n = ctx;
    int inner[2] = {-1, -1};
    parallel_for(&n->team, 2, inner_tile, inner);
    n->outer[tile] = parallel_thread();
    n->differs[tile] = inner[0] != n->outer[tile];
}

TEST(a_tile_that_opens_a_region_keeps_its_thread_number)
{
    parallel_start();
    struct nest n = {{4}, {0}, {0}};
    parallel_for(&n.team, 8, outer_tile, &n);
    for (int i = 0; i < 8; i++)
        ck_assert(!n.differs[i]);
    ck_assert_int_ne(n.outer[0], n.outer[7]);
}

int main(void)
{
    struct team any = {1, NULL};
    for (int i = 0; i < providers(); i++)
        (void)gemm_start(&any, words()[i], NULL); /* loaded once for the processes of all tests */
    return run_tests((struct tests){"gemm", .seconds = 60});
}
