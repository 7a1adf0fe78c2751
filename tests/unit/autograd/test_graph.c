/* SPDX-License-Identifier: MIT */
/* test_graph.c: the tape: views, reach, plans, errors, and what a node costs. */
#include "autograd/graph.h"

#include "autograd/ops.h"
#include "support/products.h"
#include "support/support.h"

/* Check's old name for ck_abort_msg; the SDK's table has a member of that name. */
#undef fail

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define AXES(...) ((const int32_t[]){__VA_ARGS__})

static struct arena arena;
static struct team team;
static struct graph graph;
static peat_graph *const g = &graph.base;

static void set_up(void)
{
    team = team_of(1);
    arena_init(&arena, "test", 1 << 16);
    graph_init(&graph, &arena, &team, PEAT_F32);
}

static void tear_down(void)
{
    arena_release(&arena);
}

/* A leaf 1, 2, 3, ... with a gradient of its own. */
static peat_node *leaf(int rank, const int64_t *dim)
{
    struct tensor x = tensor_new(&arena, graph.dtype, rank, dim);
    int64_t n = tensor_count(&x);
    for (int64_t i = 0; i < n; i++)
        tensor_set(&x, i, (double)(i + 1));
    return graph_leaf(&graph, &x, NULL, "x");
}

static peat_node *total(peat_node *a)
{
    return op_sum(g, op_reshape(g, a, 1, DIMS(-1)), 0);
}

static double grad_at(peat_node *n, int64_t i)
{
    struct tensor grad = node_grad(n);
    return tensor_get(&grad, i);
}

TEST(views_share_memory_in_both_directions)
{
    graph_init(&graph, &arena, &team, PEAT_F64);
    peat_node *x = leaf(2, DIMS(3, 4));
    int64_t bytes = graph.value_bytes;
    peat_node *t = op_permute(g, x, 2, AXES(1, 0));
    peat_node *s = op_slice(g, t, 0, 1, 3);
    ck_assert_ptr_eq(s->view_of, x);
    ck_assert_int_eq(s->view_offset, 1);
    ck_assert_int_eq(graph.value_bytes, bytes);
    ck_assert(tensor_get(&s->value, 0) == 2.0 && tensor_get(&s->value, 1) == 6.0);
    graph_backward(&graph, total(op_affine(g, s, 3.0, 0.0)));
    for (int64_t i = 0; i < 12; i++)
        ck_assert(grad_at(x, i) == (i % 4 == 1 || i % 4 == 2 ? 3.0 : 0.0));
}

TEST(parameters_accumulate_into_their_own_block)
{
    float value[3] = {1, 2, 3}, grad[3] = {10, 20, 30};
    struct tensor x = tensor_shape(PEAT_F32, 1, DIMS(3)), dx = x;
    x.data = value;
    dx.data = grad;
    peat_node *n = graph_leaf(&graph, &x, &dx, "w");
    graph_backward(&graph, total(op_mul(g, n, n)));
    for (int i = 0; i < 3; i++)
        ck_assert(grad[i] == 10.0f * (float)(i + 1) + 2.0f * value[i]);
}

TEST(backward_reaches_what_the_loss_depends_on_and_no_more)
{
    graph_init(&graph, &arena, &team, PEAT_F64);
    peat_node *x = leaf(1, DIMS(3)), *y = leaf(1, DIMS(3)), *z = leaf(1, DIMS(3));
    peat_node *unused = op_exp(g, y);
    peat_node *stopped = op_floor(g, z);
    peat_node *loss = total(op_add(g, op_mul(g, x, x), stopped));
    graph_backward(&graph, loss);
    ck_assert(x->reached && loss->reached);
    ck_assert(!y->reached && !unused->reached && !z->reached && !stopped->reached);
    ck_assert_ptr_null(y->grad.data);
    ck_assert(grad_at(x, 2) == 6.0);
}

TEST(plans_reach_the_same_nodes_without_memory)
{
    graph.shape_only = true;
    struct tensor huge = tensor_shape(PEAT_F32, 2, DIMS(1 << 20, 1 << 20));
    peat_node *x = graph_leaf(&graph, &huge, NULL, "x"), *y = graph_leaf(&graph, &huge, NULL, "y");
    peat_node *p = op_matmul(g, op_gelu(g, x), x, PEAT_TRANS_B);
    peat_node *loss = total(p);
    ck_assert_ptr_nonnull(loss);
    ck_assert_ptr_null(p->value.data);
    graph_reach(&graph, loss);
    ck_assert(x->reached && p->reached && !y->reached);
    ck_assert_int_eq(graph.flops, INT64_C(2) << 60);
    ck_assert(graph.value_bytes >= INT64_C(8) << 40);
    ck_assert_uint_lt(arena.used, 1 << 20);
}

TEST(evaluation_keeps_no_gradients)
{
    graph_init(&graph, &arena, &team, PEAT_F64);
    graph.no_grad = true;
    peat_node *x = leaf(1, DIMS(3));
    peat_node *loss = total(op_mul(g, x, x));
    ck_assert(!loss->needs_grad);
    graph_backward(&graph, loss);
    ck_assert_ptr_null(x->grad.data);
    ck_assert(tensor_get(&loss->value, 0) == 14.0);
}

TEST(the_first_error_sticks_and_names_hook_and_operation)
{
    peat_node *a = leaf(1, DIMS(3)), *b = leaf(1, DIMS(4));
    graph.hook = "alibi.bias";
    peat_node *bad = op_add(g, a, b);
    ck_assert_ptr_null(bad);
    ck_assert(graph_failed(&graph));
    ck_assert_str_eq(graph.err.text, "alibi.bias: add: shapes [3] and [4] do not broadcast");
    ck_assert_ptr_null(op_matmul(g, bad, a, 0));
    ck_assert_ptr_null(peat_fail(g, "second"));
    ck_assert_ptr_null(op_exp(g, a));
    ck_assert_str_eq(graph.err.text, "alibi.bias: add: shapes [3] and [4] do not broadcast");
}

TEST(a_hook_can_fail_in_its_own_words)
{
    graph.hook = "mine.encode";
    ck_assert_ptr_null(peat_fail(g, "length %d is beyond %d", 9, 8));
    ck_assert_str_eq(graph.err.text, "mine.encode: length 9 is beyond 8");
}

static peat_node *misuse(int which)
{
    peat_node *a = leaf(2, DIMS(3, 4)), *v = leaf(1, DIMS(4));
    static const int32_t index[] = {0, 3, 1};
    peat_node *i = graph_constant(&graph, PEAT_I32, 1, DIMS(3), (void *)(uintptr_t)index);
    switch (which) {
    case 0:
        return op_add(g, a, NULL);
    case 1:
        return op_matmul(g, a, a, 0);
    case 2:
        return op_matmul(g, a, v, 0);
    case 3:
        return op_permute(g, a, 2, AXES(0, 0));
    case 4:
        return op_permute(g, a, 1, AXES(0));
    case 5:
        return op_slice(g, a, 1, 2, 5);
    case 6:
        return op_slice(g, a, 2, 0, 1);
    case 7:
        return op_reshape(g, a, 2, DIMS(5, -1));
    case 8:
        return op_reshape(g, a, 2, DIMS(-1, -1));
    case 9:
        return op_reshape(g, a, 7, DIMS(1, 1, 1, 1, 1, 3, 4));
    case 10:
        return op_expand(g, a, 2, DIMS(3, 8));
    case 11:
        return op_expand(g, a, 1, DIMS(4));
    case 12:
        return op_concat(g, 2, (peat_node *const[]){a, a}, 2);
    case 13:
        return op_concat(g, 2, (peat_node *const[]){a, leaf(2, DIMS(3, 5))}, 0);
    case 14:
        return op_concat(g, 0, NULL, 0);
    case 15:
        return op_pad(g, a, 0, -1, 0);
    case 16:
        return op_sum(g, a, -3);
    case 17:
        return op_gather_rows(g, a, i); /* 3 is not a row */
    case 18:
        return op_gather_rows(g, a, a);
    case 19:
        return op_take_last(g, op_slice(g, a, 1, 0, 3), i);
    case 20:
        return op_add(g, a, i);
    case 21:
        return op_linear(g, a, a, v);
    case 22:
        return op_clamp(g, a, 1.0, 0.0);
    case 23:
        return op_pad(g, a, 0, INT64_MAX, INT64_MAX);
    case 24:
        return op_expand(g, leaf(1, DIMS(1)), 2, DIMS(INT64_C(1) << 40, INT64_C(1) << 40));
    case 25:
        return graph_constant(&graph, PEAT_F32, 2, DIMS(3, -1), NULL);
    case 26:
        return graph_constant(&graph, PEAT_F64, 1, DIMS(3), NULL) == NULL
                   ? NULL
                   : op_exp(g, graph_constant(&graph, PEAT_F64, 1, DIMS(3), NULL));
    case 27:
        return op_mean(g, op_slice(g, a, 0, 1, 1), 0);
    case 28:
        return op_custom(g, &(const peat_op){.size = sizeof(peat_op), .name = "half"}, 1, &a, NULL,
                         0);
    default:
        return op_reshape(g, NULL, 0, NULL);
    }
}

LOOP_TEST(misuse_is_an_error_with_a_text, 30)
{
    ck_assert_ptr_null(misuse(_i));
    ck_assert(graph_failed(&graph));
    ck_assert_msg(strchr(graph.err.text, ':') != NULL, "%s", graph.err.text);
}

TEST(empty_axes_pass_through_every_kind_of_operation)
{
    peat_node *x = leaf(3, DIMS(2, 0, 4)), *w = leaf(2, DIMS(5, 4)), *b = leaf(1, DIMS(5));
    peat_node *y = op_linear(g, op_gelu(g, x), w, b);
    y = op_mul(g, y, leaf(1, DIMS(1)));
    y = op_cumsum(g, op_concat(g, 2, (peat_node *const[]){y, y}, 1), 1, false);
    y = op_contiguous(g, op_permute(g, y, 3, AXES(2, 0, 1)));
    y = op_matmul(g, op_reshape(g, y, 2, DIMS(5, 0)), leaf(2, DIMS(0, 3)), 0);
    ck_assert_int_eq(tensor_count(&y->value), 15);
    peat_node *loss = total(op_add(g, y, op_pad(g, op_slice(g, w, 1, 2, 2), 1, 3, 0)));
    graph_backward(&graph, loss);
    ck_assert_msg(!graph_failed(&graph), "%s", graph.err.text);
    ck_assert(tensor_get(&loss->value, 0) == 0.0);
    ck_assert(grad_at(w, 7) == 0.0 && grad_at(b, 0) == 0.0);
}

TEST(sums_of_nothing_are_zero)
{
    peat_node *y = op_sum(g, leaf(2, DIMS(3, 0)), 1);
    ck_assert(tensor_count(&y->value) == 3 && tensor_get(&y->value, 2) == 0.0);
}

TEST(the_first_nonfinite_node_is_named)
{
    peat_node *x = leaf(1, DIMS(3));
    peat_node *big = op_affine(g, x, 1e30, 0.0);
    ck_assert_ptr_null(graph_first_nonfinite(&graph, false));
    peat_node *inf = op_mul(g, big, big);
    peat_node *nan = op_sub(g, inf, inf);
    ck_assert(isnan(tensor_get(&nan->value, 0)));
    ck_assert_ptr_eq(graph_first_nonfinite(&graph, false), inf);
}

TEST(nonfinite_gradients_are_found_too)
{
    peat_node *x = leaf(1, DIMS(3));
    peat_node *loss = total(op_sqrt(g, op_affine(g, x, 0.0, 0.0)));
    graph_backward(&graph, loss);
    ck_assert_ptr_null(graph_first_nonfinite(&graph, false));
    ck_assert_ptr_nonnull(graph_first_nonfinite(&graph, true));
}

TEST(comparisons_and_clamps_let_nan_pass)
{
    peat_node *x = leaf(1, DIMS(2)), *bad = leaf(1, DIMS(2));
    tensor_set(&bad->value, 0, NAN);
    peat_node *y[] = {
        op_minimum(g, x, bad), op_minimum(g, bad, x), op_maximum(g, x, bad),
        op_maximum(g, bad, x), op_relu(g, bad),       op_clamp(g, bad, 0.0, 1.0),
    };
    for (size_t i = 0; i < sizeof(y) / sizeof(*y); i++)
        ck_assert(isnan(tensor_get(&y[i]->value, 0)) && !isnan(tensor_get(&y[i]->value, 1)));
}

TEST(operands_of_another_graph_are_refused)
{
    struct graph other;
    struct tensor x = tensor_new(&arena, PEAT_F32, 1, DIMS(3));
    graph_init(&other, &arena, &team, PEAT_F32);
    ck_assert_ptr_null(op_exp(g, graph_leaf(&other, &x, NULL, "x")));
    ck_assert_ptr_nonnull(strstr(graph.err.text, "another graph"));
}

TEST(reshape_copies_only_when_strides_cannot_say_it)
{
    peat_node *x = leaf(3, DIMS(2, 3, 4));
    int64_t bytes = graph.value_bytes;
    peat_node *heads = op_reshape(g, op_slice(g, x, 2, 0, 2), 4, DIMS(2, 3, 1, 2));
    ck_assert_ptr_eq(heads->view_of, x);
    peat_node *merged = op_reshape(g, op_permute(g, x, 3, AXES(2, 0, 1)), 2, DIMS(4, 6));
    ck_assert_ptr_eq(merged->view_of, x);
    ck_assert_int_eq(graph.value_bytes, bytes);
    peat_node *copied = op_reshape(g, op_permute(g, x, 3, AXES(1, 0, 2)), 2, DIMS(6, 4));
    ck_assert_ptr_ne(copied->view_of, x);
    ck_assert(tensor_get(&copied->value, 4) == 13.0);
}

int main(void)
{
    return run_tests((struct tests){"graph", set_up, tear_down});
}
