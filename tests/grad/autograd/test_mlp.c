/* SPDX-License-Identifier: MIT */
/* test_mlp.c: the feed-forward operation against differences and against the operations in it. */
#include "autograd/ops.h"
#include "support/gradcase.h"
#include "support/products.h"
#include "support/support.h"

static enum mlp_activation kinds[] = {MLP_GELU, MLP_GELU_TANH, MLP_RELU, MLP_SWIGLU, MLP_GEGLU};
enum { KINDS = sizeof(kinds) / sizeof(*kinds) };

BUILD(mlp, op_mlp(g, in[0], in[1], in[2], in[3], in[4], *(enum mlp_activation *)ctx))

static peat_node *in_steps(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_graph *b = &g->base;
    enum mlp_activation f = *(enum mlp_activation *)ctx;
    const int64_t F = node_dim(in[3], 1);
    peat_node *u = op_linear(b, in[0], in[1], in[2]), *x = op_slice(b, u, -1, 0, F);
    peat_node *h = f == MLP_SWIGLU      ? op_mul(b, x, op_sigmoid(b, x))
                   : f == MLP_GELU_TANH ? op_gelu_tanh(b, x)
                   : f == MLP_RELU      ? op_relu(b, x)
                                        : op_gelu(b, x);
    if (mlp_is_gated(f))
        h = op_mul(b, h, op_slice(b, u, -1, F, 2 * F));
    return op_linear(b, h, in[3], in[4]);
}

BUILD(difference, op_sub(g, mlp(graph, in, ctx), in_steps(graph, in, ctx)))

/* Without one bias, or the other. */
static peat_node *mlp_of_three(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *up[] = {in[0], in[1], NULL, in[2], in[3]};
    peat_node *down[] = {in[0], in[1], in[4], in[2], NULL};
    return op_add(&g->base, mlp(g, up, ctx), mlp(g, down, ctx));
}

/* The input stands transposed: it is copied first. */
static peat_node *mlp_of_view(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t turned[] = {1, 0};
    peat_node *src[] = {op_permute(&g->base, in[0], 2, turned), in[1], in[2], in[3], in[4]};
    return mlp(g, src, ctx);
}

/* relu keeps away from its kink by inputs and weights above 0. */
static const struct gradcase cases[] = {
    {"gelu", 5, {{3, {2, 3, 4}}, {2, {6, 4}}, {1, {6}}, {2, {5, 6}}, {1, {5}}}, mlp, &kinds[0]},
    {"gelu_tanh", 5, {{2, {3, 4}}, {2, {6, 4}}, {1, {6}}, {2, {4, 6}}, {1, {4}}}, mlp, &kinds[1]},
    {"relu",
     5,
     {{2, {3, 4}, 0.1, 1}, {2, {6, 4}, 0.1, 1}, {1, {6}, 0.1, 1}, {2, {4, 6}}, {1, {4}}},
     mlp,
     &kinds[2]},
    {"swiglu", 5, {{2, {3, 4}}, {2, {12, 4}}, {1, {12}}, {2, {5, 6}}, {1, {5}}}, mlp, &kinds[3]},
    {"geglu", 5, {{2, {3, 4}}, {2, {12, 4}}, {1, {12}}, {2, {5, 6}}, {1, {5}}}, mlp, &kinds[4]},
    {"less biases",
     5,
     {{2, {3, 4}}, {2, {12, 4}}, {2, {5, 6}}, {1, {5}}, {1, {12}}},
     mlp_of_three,
     &kinds[3]},
    {"of a view",
     5,
     {{2, {4, 3}}, {2, {6, 4}}, {1, {6}}, {2, {5, 6}}, {1, {5}}},
     mlp_of_view,
     &kinds[0]},
    {"several strips",
     5,
     {{2, {130, 2}}, {2, {3, 2}}, {1, {3}}, {2, {2, 3}}, {1, {2}}},
     mlp,
     &kinds[0]},
    {"frozen weights",
     5,
     {{2, {3, 4}},
      {2, {6, 4}, .fixed = true},
      {1, {6}, .fixed = true},
      {2, {5, 6}},
      {1, {5}, .fixed = true}},
     mlp,
     &kinds[0]},
    {"less itself in steps",
     5,
     {{3, {2, 3, 4}}, {2, {6, 4}}, {1, {6}}, {2, {5, 6}}, {1, {5}}},
     difference,
     &kinds[0]},
};
enum { CASES = sizeof(cases) / sizeof(*cases) };

static const struct gradcase large[] = {
    {"blocks",
     5,
     {{2, {1300, 24}}, {2, {96, 24}}, {1, {96}}, {2, {24, 96}}, {1, {24}}},
     mlp,
     &kinds[0]},
    {"blocks of a gate",
     5,
     {{2, {1300, 24}}, {2, {128, 24}}, {1, {128}}, {2, {24, 64}}, {1, {24}}},
     mlp,
     &kinds[3]},
};

LOOP_TEST(gradients_equal_differences, CASES)
{
    gradcase_run(&cases[_i]);
}

LOOP_TEST(single_precision_is_near_double, CASES)
{
    if (_i < CASES - 1)
        gradcase_f32(&cases[_i]);
    gradcase_f32(&large[_i % 2]);
}

LOOP_TEST(threads_do_not_change_bits, 2)
{
    gradcase_threads(&large[_i]);
}

LOOP_TEST(plans_know_shape_and_bytes, CASES)
{
    gradcase_shape(&cases[_i]);
}

TEST(it_equals_its_steps)
{
    struct arena a;
    struct graph g;
    struct team team = team_of(1);
    arena_init(&a, "test", 1 << 16);
    graph_init(&g, &a, &team, PEAT_F64);
    for (int k = 0; k < KINDS; k++) {
        const struct gradcase *of = &cases[k < 3 ? 0 : k];
        peat_node *in[5];
        for (int i = 0; i < 5; i++) {
            struct tensor t = tensor_new(&a, PEAT_F64, of->input[i].rank, of->input[i].dim);
            for (int64_t j = 0; j < tensor_count(&t); j++)
                tensor_set(&t, j, (double)(j % 7 - 3) / 4.0);
            in[i] = graph_leaf(&g, &t, NULL, "x");
        }
        peat_node *zero = difference(&g, in, &kinds[k]);
        ck_assert_ptr_nonnull(zero);
        for (int64_t i = 0; i < tensor_count(&zero->value); i++)
            ck_assert_double_eq_tol(tensor_get(&zero->value, i), 0.0, 1e-14);
    }
    arena_release(&a);
}

TEST(shapes_that_do_not_fit_are_refused)
{
    struct arena a;
    struct graph g;
    arena_init(&a, "test", 1 << 16);
    graph_init(&g, &a, lone_team(), PEAT_F32);
    peat_node *x = graph_constant(&g, PEAT_F32, 2, (int64_t[]){3, 4}, NULL);
    peat_node *v = graph_constant(&g, PEAT_F32, 1, (int64_t[]){4}, NULL);
    ck_assert_ptr_null(op_mlp(&g.base, x, x, v, x, v, MLP_GELU));
    ck_assert_msg(strncmp(g.err.text, "mlp: ", 5) == 0, "%s", g.err.text);
    arena_release(&a);
}

int main(void)
{
    return run_tests((struct tests){"mlp"});
}
