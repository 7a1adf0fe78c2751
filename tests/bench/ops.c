/* SPDX-License-Identifier: MIT */
/*
 * ops.c: the time of each operation, forward and backward, a line of JSON each.
 *
 * Beside each operation is the same one in double precision, whose kernels are plain loops over
 * libm. An operation that moves memory is compared with memcpy, one that multiplies with sgemm.
 *
 *   build/release/bench/ops --d 128 --threads 2
 */

#include "autograd/ops.h"
#include "tensor/gemm.h"
#include "tool.h"

enum { OPERANDS = 5, ROW = 3, TIMES = 9 };

struct ops_bench {
    const struct bench_sizes *s;
    struct team team;
    struct arena arena;
    double copy_gbs, sgemm;
};

/* in: x and y [B*T, d], a matrix [4d, d], a row [4d], a matrix [d, 4d] */
typedef peat_node *(*build_fn)(peat_graph *g, peat_node *const *in, const struct bench_sizes *s);

static peat_node *add(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    (void)s;
    return op_add(g, in[0], in[1]);
}

static peat_node *contiguous(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    static const int32_t heads_first[] = {0, 2, 1, 3};
    const int64_t heads[] = {s->B, s->T, s->heads, s->d / s->heads};
    return op_contiguous(g, op_permute(g, op_reshape(g, in[0], 4, heads), 4, heads_first));
}

static peat_node *exponential(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    (void)s;
    return op_exp(g, in[0]);
}

static peat_node *gelu(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    (void)s;
    return op_gelu(g, in[0]);
}

static peat_node *layernorm(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    peat_node *row = op_slice(g, in[3], 0, 0, s->d);
    return op_layernorm(g, in[0], row, row, 1e-5);
}

static peat_node *softmax(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    (void)s;
    return op_softmax(g, in[0], NULL);
}

static peat_node *linear(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    (void)s;
    return op_linear(g, in[0], in[2], in[3]);
}

static peat_node *mlp(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    return op_mlp(g, in[0], in[2], in[3], in[4], op_slice(g, in[3], 0, 0, s->d), MLP_GELU);
}

static peat_node *attention(peat_graph *g, peat_node *const *in, const struct bench_sizes *s)
{
    static const int32_t heads_first[] = {0, 2, 1, 3};
    static const struct attention_mask mask = {.causal = true};
    const int64_t heads[] = {s->B, s->T, s->heads, s->d / s->heads};
    peat_node *x = op_permute(g, op_reshape(g, in[0], 4, heads), 4, heads_first);
    peat_node *y = op_permute(g, op_reshape(g, in[1], 4, heads), 4, heads_first);
    double scale = 1.0 / sqrt((double)heads[3]);
    return op_attention(g, x, y, y, NULL, NULL, NULL, scale, &mask);
}

/* bytes: read and written per number of x by forward, by backward; 0: counted as a product.
 * Operands are leaves, whose gradients are always apart from the result's. */
static const struct {
    const char *name;
    build_fn build;
    int bytes[2];
} cases[] = {
    {"add", add, {12, 16}},
    {"contiguous", contiguous, {8, 12}},
    {"exp", exponential, {8, 16}},
    {"gelu", gelu, {8, 16}},
    {"layernorm", layernorm, {8, 16}},
    {"softmax", softmax, {8, 16}},
    {"linear d to 4d", linear, {0, 0}},
    {"mlp", mlp, {0, 0}},
    {"attention", attention, {0, 0}},
};

struct timing {
    double forward, backward; /* seconds */
    double flops;             /* of forward */
};

static void operands(struct ops_bench *b, struct graph *g, peat_node *in[OPERANDS])
{
    const struct bench_sizes *s = b->s;
    const int64_t rows = s->B * s->T, wide = 4 * s->d;
    const int64_t dim[OPERANDS][2] = {
        {rows, s->d}, {rows, s->d}, {wide, s->d}, {wide, 1}, {s->d, wide}};
    for (int i = 0; i < OPERANDS; i++) {
        struct tensor t = tensor_new(&b->arena, g->dtype, i == ROW ? 1 : 2, dim[i]);
        int64_t n = t.data ? tensor_count(&t) : 0;
        for (int64_t k = 0; k < n; k++)
            tensor_set(&t, k, rng_uniform(rng_stream(0, "bench", "ops"), (uint64_t)k) * 4.0 - 2.0);
        in[i] = t.data ? graph_leaf(g, &t, NULL, "operand") : NULL;
    }
}

/* A stand-in for what follows an operation; its backward writes ones over the result's gradient,
 * which is part of what is timed. */
static peat_node *total(peat_graph *g, peat_node *y)
{
    static const int64_t flat = -1;
    return op_sum(g, op_reshape(g, op_contiguous(g, y), 1, &flat), 0);
}

/* The shortest of several runs; false: out of memory. */
static bool time_case(struct ops_bench *b, build_fn build, peat_dtype t, struct timing *out)
{
    *out = (struct timing){(double)INFINITY, (double)INFINITY, 0.0};
    for (int i = 0; i < TIMES; i++) {
        struct graph g;
        peat_node *in[OPERANDS];
        arena_reset(&b->arena);
        graph_init(&g, &b->arena, &b->team, t);
        operands(b, &g, in);
        double start = clock_seconds();
        peat_node *y = build(&g.base, in, b->s);
        double forward = clock_seconds() - start;
        out->flops = (double)g.flops;
        peat_node *one = total(&g.base, y);
        start = clock_seconds();
        graph_backward(&g, one);
        double backward = clock_seconds() - start;
        if (graph_failed(&g))
            return false;
        out->forward = fmin(out->forward, forward);
        out->backward = fmin(out->backward, backward);
    }
    return true;
}

/* Of a block as large as x, both directions counted. */
static double copy_speed(struct ops_bench *b)
{
    size_t bytes = (size_t)(b->s->B * b->s->T * b->s->d) * sizeof(float);
    double best = (double)INFINITY;
    arena_reset(&b->arena);
    char *from = arena_try_zalloc(&b->arena, bytes), *to = arena_try_zalloc(&b->arena, bytes);
    for (int i = 0; from && to && i < TIMES; i++) {
        double start = clock_seconds();
        memcpy(to, from, bytes);
        best = fmin(best, clock_seconds() - start);
    }
    return 2e-9 * (double)bytes / best;
}

/* One direction of one operation: its time, its rate, and what share that is of the limit. */
static void put_direction(const struct ops_bench *b, struct json map, const char *name,
                          double seconds, double plain, int bytes, double flops)
{
    char key[64];
    double n = (double)(b->s->B * b->s->T * b->s->d);
    double rate = 1e-9 * (bytes > 0 ? (double)bytes * n : flops) / seconds;
    snprintf(key, sizeof(key), "%s_ns", name);
    bench_put(map, key, 1e9 * seconds / n, 3);
    snprintf(key, sizeof(key), "%s_plain_ns", name);
    bench_put(map, key, 1e9 * plain / n, 3);
    snprintf(key, sizeof(key), "%s_%s", name, bytes > 0 ? "gb_s" : "gflops");
    bench_put(map, key, rate, 2);
    snprintf(key, sizeof(key), "%s_share", name);
    bench_put(map, key, rate / (bytes > 0 ? b->copy_gbs : b->sgemm), 3);
}

static bool run_case(struct ops_bench *b, size_t i)
{
    struct timing fast, plain;
    if (!time_case(b, cases[i].build, PEAT_F64, &plain) ||
        !time_case(b, cases[i].build, PEAT_F32, &fast))
        return false;
    struct json map = json_map(&b->arena);
    json_put_text(map, "op", cases[i].name);
    put_direction(b, map, "forward", fast.forward, plain.forward, cases[i].bytes[0], fast.flops);
    put_direction(b, map, "backward", fast.backward, plain.backward, cases[i].bytes[1],
                  2.0 * fast.flops);
    tool_print(map);
    return true;
}

int main(int argc, char **argv)
{
    const struct bench_sizes s = tool_sizes(argc, argv);
    struct ops_bench b = {.s = &s, .team = {(int)s.threads, NULL}};
    struct error err = {0};
    parallel_start();
    if (gemm_start(&b.team, s.gemm, &err) != PEAT_OK)
        return tool_fail(&err);
    arena_init(&b.arena, "ops", 1 << 20);
    b.copy_gbs = copy_speed(&b);
    b.sgemm = bench_sgemm(&s, &b.team, &b.arena);
    struct json limits = json_map(&b.arena);
    json_put_text(limits, "op", "limits");
    bench_put_provider(limits, &b.team);
    bench_put(limits, "copy_gb_s", b.copy_gbs, 2);
    bench_put(limits, "sgemm_gflops", b.sgemm, 2);
    tool_print(limits);
    bool ok = true;
    for (size_t i = 0; ok && i < sizeof(cases) / sizeof(*cases); i++)
        ok = run_case(&b, i);
    arena_release(&b.arena);
    if (ok)
        return 0;
    error_set(&err, PEAT_NOMEM, "out of memory");
    return tool_fail(&err);
}
