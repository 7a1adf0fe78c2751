/* SPDX-License-Identifier: MIT */
/* parallel.c: the one OpenMP region of the program. */
#include "tensor/parallel.h"

#include <omp.h>
#include <stddef.h>

/* ThreadSanitizer cannot see into the OpenMP runtime, so it is told: what came before a region
 * happens before each thread's part, and each part before what follows. The region's own variables
 * are handed over by the compiler, in code that is not watched. */
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#define REGION_GIVES(token) __tsan_release(token)
#define REGION_TAKES(token) __tsan_acquire(token)
#define UNWATCHED           __attribute__((no_sanitize("thread")))
#else
#define REGION_GIVES(token) (void)(token)
#define REGION_TAKES(token) (void)(token)
#define UNWATCHED
#endif

void parallel_start(void)
{
    omp_set_dynamic(0);
    omp_set_num_threads(1);
}

UNWATCHED static void run_region(int threads, int64_t n, tile_fn fn, void *ctx)
{
    char begin = 0, end = 0;
    REGION_GIVES(&begin);
#pragma omp parallel num_threads(threads)
    {
        REGION_TAKES(&begin);
#pragma omp for schedule(static) nowait
        for (int64_t i = 0; i < n; i++)
            fn(ctx, i);
        REGION_GIVES(&end);
    }
    REGION_TAKES(&end);
}

void parallel_for(const struct team *team, int64_t n, tile_fn fn, void *ctx)
{
    /* A tile may itself call parallel_for: no second team, and parallel_thread stays unique. */
    if (team != NULL && team->threads > 1 && n > 1 && !omp_in_parallel()) {
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
    grain = grain < 1 ? 1 : grain;
    struct ranges r = {n, grain, fn, ctx};
    parallel_for(team, (n - 1) / grain + 1, run_range, &r);
}

int parallel_thread(void)
{
    return omp_get_thread_num();
}
