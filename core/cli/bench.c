/* SPDX-License-Identifier: MIT */
/* bench.c: what the three benchmarks share: the speed of products, and how results are printed. */
#include "cli/bench.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "tensor/gemm.h"
#include "tensor/tensor.h"

static double product_gflops(const struct team *team, const struct gemm *p)
{
    enum { TIMES = 5 };
    double best = (double)INFINITY;
    for (int i = 0; i < TIMES; i++) {
        double start = clock_seconds();
        gemm_run(team, p);
        best = fmin(best, clock_seconds() - start);
    }
    return 2e-9 * (double)p->m * (double)p->n * (double)p->k / best;
}

/* The most over square products and over the model's own shapes. */
void bench_put_provider(struct json map, const struct team *team)
{
    const char *libraries, *kernels;
    gemm_identify(team, map.a, &libraries, &kernels);
    json_put_text(map, "gemm", gemm_name(team));
    json_put_text(map, "blas", libraries);
    json_put_text(map, "blas_core", kernels);
}

double bench_sgemm(const struct bench_sizes *s, const struct team *team, struct arena *arena)
{
    const int64_t shape[][3] = {{512, 512, 512},
                                {1024, 1024, 1024},
                                {2048, 1024, 512},
                                {s->B * s->T, 4 * s->d, s->d},
                                {s->B * s->T, s->d, 4 * s->d}};
    double best = 0.0;
    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
        int64_t m = shape[i][0], n = shape[i][1], k = shape[i][2];
        arena_reset(arena);
        struct tensor A = tensor_new(arena, PEAT_F32, 2, (int64_t[]){m, k});
        struct tensor B = tensor_new(arena, PEAT_F32, 2, (int64_t[]){n, k});
        struct tensor C = tensor_new(arena, PEAT_F32, 2, (int64_t[]){m, n});
        if (!A.data || !B.data || !C.data)
            continue;
        tensor_fill(&A, 0.5);
        tensor_fill(&B, 0.25);
        const struct gemm p = {.dtype = PEAT_F32,
                               .trans_b = true,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = 1.0,
                               .a = A.data,
                               .b = B.data,
                               .c = C.data,
                               .lda = k,
                               .ldb = k,
                               .ldc = n};
        best = fmax(best, product_gflops(team, &p));
    }
    return best;
}

void bench_put(struct json map, const char *key, double x, int decimals)
{
    double unit = pow(10.0, decimals);
    json_put_real(map, key, round(x * unit) / unit);
}

void bench_print(struct json map, bool json)
{
    if (json)
        cli_print("%s\n", json_to_text(map.v, JSON_LINE, map.a));
    for (int i = 0; !json && i < map.v->n; i++)
        cli_print("%-18s %s\n", map.v->key[i], map.v->item[i]->text);
}
