/* SPDX-License-Identifier: MIT */
/* test_rounded.c: linear maps and feed-forward parts of a team with bf16 products. */
#include "autograd/ops.h"
#include "support/products.h"
#include "support/support.h"
#include "tensor/gemm.h"

enum { X, W1, B1, W2, B2, OUT, N_RESULT };

static const struct shape {
    int64_t rows, D, F, E;
    enum mlp_activation f;
    bool reuse;
} shapes[] = {{1, 3, 5, 2, MLP_GELU},           {70, 16, 64, 16, MLP_GELU},
              {600, 33, 130, 20, MLP_RELU},     {1300, 64, 256, 64, MLP_GELU, true},
              {40, 32, 2100, 8, MLP_GELU_TANH}, {2100, 24, 7, 96, MLP_GELU_TANH, true},
              {1300, 40, 172, 64, MLP_SWIGLU},  {70, 16, 2100, 16, MLP_GEGLU, true}};
enum { N_SHAPES = sizeof(shapes) / sizeof(*shapes) };

struct outcome {
    struct arena arena;
    struct tensor x[N_RESULT];
};

static peat_node *leaf(struct graph *g, int rank, const int64_t *dim, double size, const char *name)
{
    struct tensor t = tensor_new(g->arena, g->dtype, rank, dim);
    for (int64_t i = 0; i < tensor_count(&t); i++) {
        double u = rng_uniform(rng_stream(1, "rounded", name), (uint64_t)i);
        tensor_set(&t, i, size * nearbyint(128.0 * u - 64.0) / 64.0); /* bf16 has these */
    }
    return graph_leaf(g, &t, NULL, name);
}

/* x through a linear map or a feed-forward part; the loss weighs the result. */
static void run(const struct shape *s, bool mlp, peat_dtype dtype, const struct team *team,
                struct outcome *result)
{
    struct graph g;
    arena_init(&result->arena, "test", 1 << 20);
    graph_init(&g, &result->arena, team, dtype);
    g.reuse = s->reuse;
    const int64_t U = mlp && mlp_is_gated(s->f) ? 2 * s->F : s->F;
    const int64_t x[] = {s->rows, s->D}, w1[] = {U, s->D}, w2[] = {s->E, s->F}, flat = -1;
    peat_node *n[N_RESULT] = {leaf(&g, 2, x, 1.0, "x"), leaf(&g, 2, w1, 0.125, "w1"),
                              leaf(&g, 1, &U, 1.0, "b1"), leaf(&g, 2, w2, 0.125, "w2"),
                              leaf(&g, 1, &s->E, 1.0, "b2")};
    peat_graph *p = &g.base;
    peat_node *out =
        mlp ? op_mlp(p, n[X], n[W1], n[B1], n[W2], n[B2], s->f) : op_linear(p, n[X], n[W1], n[B1]);
    ck_assert_msg(out != NULL, "%s", g.err.text);
    result->x[OUT] = tensor_new(&result->arena, dtype, 2, out->value.dim);
    tensor_copy(&result->x[OUT], &out->value);
    peat_node *weights = leaf(&g, 2, out->value.dim, 1.0, "weights");
    graph_backward(&g, op_sum(p, op_reshape(p, op_mul(p, out, weights), 1, &flat), 0));
    ck_assert_msg(!graph_failed(&g), "%s", g.err.text);
    for (int i = X; i < OUT; i++)
        result->x[i] = node_grad(n[i]);
}

static void run_rounded(const struct shape *s, bool mlp, int threads, struct outcome *result)
{
    struct error err = {0};
    struct team team = team_by("auto", threads);
    ck_assert_msg(gemm_start_bf16(&team, &err) == PEAT_OK, "%s", err.text);
    run(s, mlp, PEAT_F32, &team, result);
    gemm_stop(&team);
}

/* Operands are rounded by at most 2^-9 of themselves; of the leaves nothing is lost. */
LOOP_TEST(results_and_gradients_are_as_near_those_of_f64_as_rounded_operands_let_them, 2 * N_SHAPES)
{
    const struct shape *s = &shapes[_i / 2];
    struct outcome rounded, exact;
    run_rounded(s, _i % 2 == 1, 2, &rounded);
    run(s, _i % 2 == 1, PEAT_F64, lone_team(), &exact);
    for (int i = 0; i < N_RESULT; i++) {
        double apart = 0.0, length = 0.0;
        ck_assert(tensor_same_shape(&rounded.x[i], &exact.x[i]));
        for (int64_t j = 0; j < tensor_count(&exact.x[i]); j++) {
            double want = tensor_get(&exact.x[i], j), d = tensor_get(&rounded.x[i], j) - want;
            apart += d * d;
            length += want * want;
        }
        /* Only what the feed-forward part makes inside is rounded. */
        double most = _i % 2 == 1 ? 0x1p-7 : 0x1p-20;
        ck_assert_msg(sqrt(apart) <= most * sqrt(length), "result %d: %g of %g", i, sqrt(apart),
                      sqrt(length));
    }
    arena_release(&rounded.arena);
    arena_release(&exact.arena);
}

LOOP_TEST(bits_are_the_same_at_any_thread_count, 2 * N_SHAPES)
{
    struct outcome one, other;
    run_rounded(&shapes[_i / 2], _i % 2 == 1, 1, &one);
    for (int threads = 2; threads <= 4; threads += 2) {
        run_rounded(&shapes[_i / 2], _i % 2 == 1, threads, &other);
        for (int i = 0; i < N_RESULT; i++)
            ck_assert_mem_eq(one.x[i].data, other.x[i].data, tensor_bytes(&one.x[i]));
        arena_release(&other.arena);
    }
    arena_release(&one.arena);
}

TEST(a_value_is_rounded_once_for_all_that_read_it)
{
    struct error err = {0};
    struct team team = team_by("auto", 1);
    struct arena arena;
    struct graph g;
    const int64_t dim[] = {6, 4}, folded[] = {2, 3, 4};
    const int32_t turned[] = {1, 0};
    ck_assert(gemm_start_bf16(&team, &err) == PEAT_OK);
    arena_init(&arena, "test", 1 << 12);
    graph_init(&g, &arena, &team, PEAT_F32);
    peat_node *x = leaf(&g, 2, dim, 1.0, "x");
    const void *first = node_rounded(x);
    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_eq(first, node_rounded(op_reshape(&g.base, x, 3, folded)));
    ck_assert_ptr_null(node_rounded(op_permute(&g.base, x, 2, turned)));
    ck_assert_ptr_null(node_rounded(op_slice(&g.base, x, 0, 0, 2)));
    g.no_grad = true;
    ck_assert_ptr_null(node_rounded(leaf(&g, 2, dim, 1.0, "y")));
    gemm_stop(&team);
    ck_assert_ptr_null(node_rounded(x));
    arena_release(&arena);
}

int main(void)
{
    struct error missing = {0};
    use_built_plugins();
    if (gemm_check_bf16("auto", &missing) != PEAT_OK)
        return skip_all(missing.text);
    return run_tests((struct tests){"rounded", .seconds = 60});
}
