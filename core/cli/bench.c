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

void bench_put(struct arena *a, struct value *map, const char *key, struct value *v)
{
    value_set(a, map, key, (struct place){NULL, 0, 0}, v);
}

void bench_real(struct arena *a, struct value *map, const char *key, double x, int decimals)
{
    double unit = pow(10.0, decimals);
    bench_put(a, map, key, value_real(a, (struct place){NULL, 0, 0}, round(x * unit) / unit));
}

/* On one line, so that runs can be appended to a file. */
static void print_object(const struct value *map)
{
    struct strbuf out;
    strbuf_init(&out);
    value_to_json(map, false, 0, &out);
    printf("%s\n", out.text);
    strbuf_release(&out);
}

static void print_lines(const struct value *map)
{
    for (int i = 0; i < map->n; i++) {
        char number[32];
        const struct value *v = map->item[i];
        if (v->kind != VALUE_TEXT)
            number_text(v->real, number);
        printf("%-18s %s\n", map->key[i], v->kind == VALUE_TEXT ? v->text : number);
    }
}

void bench_print(const struct value *map, bool json)
{
    if (json)
        print_object(map);
    else
        print_lines(map);
}
