/* SPDX-License-Identifier: MIT */
/* parallel.c: the one OpenMP region of the program. */
#include "tensor/parallel.h"

/* libgomp, by its own interface, which libomp has too. The libraries that multiply are built with
 * libgomp; a pragma compiled by clang would call libomp, and the process would have two runtimes
 * with threads and settings of their own. */
void GOMP_parallel(void (*fn)(void *), void *ctx, unsigned threads, unsigned flags);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
void omp_set_dynamic(int dynamic);
void omp_set_num_threads(int threads);

/* ThreadSanitizer cannot see into the OpenMP runtime, so these calls announce the order: everything
 * before a region comes before each thread's part, and each part before everything after the
 * region. */
#ifdef BASE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#define REGION_GIVES(token) __tsan_release(token)
#define REGION_TAKES(token) __tsan_acquire(token)
#else
#define REGION_GIVES(token) (void)(token)
#define REGION_TAKES(token) (void)(token)
#endif

void parallel_start(void)
{
    omp_set_dynamic(0);
    omp_set_num_threads(1);
}

struct region {
    int64_t n;
    tile_fn fn;
    void *ctx;
    char begin, end;
};

/* Thread t of T runs tiles [n t / T, n (t + 1) / T). */
static void run_part(void *ctx)
{
    struct region *r = ctx;
    REGION_TAKES(&r->begin);
    int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    int64_t end = r->n * (thread + 1) / threads;
    for (int64_t i = r->n * thread / threads; i < end; i++)
        r->fn(r->ctx, i);
    REGION_GIVES(&r->end);
}

static void run_region(int threads, int64_t n, tile_fn fn, void *ctx)
{
    struct region r = {.n = n, .fn = fn, .ctx = ctx};
    REGION_GIVES(&r.begin);
    GOMP_parallel(run_part, &r, (unsigned)threads, 0);
    REGION_TAKES(&r.end);
}

void parallel_for(const struct team *team, int64_t n, tile_fn fn, void *ctx)
{
    /* A tile may itself call parallel_for, without a second team, so parallel_thread stays
     * unique. */
    if (team && team->threads > 1 && n > 1 && !omp_in_parallel()) {
        run_region(team->threads, n, fn, ctx);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        fn(ctx, i);
}

struct ranges {
    int64_t n, grain;
    range_fn fn;
    void *ctx;
};

static void run_range(void *ctx, int64_t tile)
{
    const struct ranges *r = ctx;
    int64_t begin = tile * r->grain;
    int64_t end = r->n - begin < r->grain ? r->n : begin + r->grain;
    r->fn(r->ctx, begin, end);
}

void parallel_ranges(const struct team *team, int64_t n, int64_t grain, range_fn fn, void *ctx)
{
    if (n <= 0)
        return;
    grain = at_least(grain, 1);
    struct ranges r = {n, grain, fn, ctx};
    parallel_for(team, (n - 1) / grain + 1, run_range, &r);
}

int parallel_thread(void)
{
    return omp_get_thread_num();
}
