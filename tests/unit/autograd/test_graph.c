/* SPDX-License-Identifier: MIT */
/* test_graph.c: the tape: views, reach, plans, errors, and what a node costs. */
#include "autograd/graph.h"

#include <math.h>
#include <string.h>

#include "autograd/ops.h"
#include "support/support.h"

/* Check's old name for ck_abort_msg; the SDK's table has a member of that name. */
#undef fail

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})
#define AXES(...) ((const int32_t[]){__VA_ARGS__})

struct fixture {
    struct arena arena;
    struct team team;
    struct graph g;
    peat_graph *base;
};

static void setup(struct fixture *f, peat_dtype t)
{
    parallel_start();
    arena_init(&f->arena, "test", 1 << 16);
    f->team = (struct team){1};
    graph_init(&f->g, &f->arena, &f->team, t);
    f->base = &f->g.base;
}

static void teardown(struct fixture *f)
{
    arena_release(&f->arena);
}

/* A leaf 1, 2, 3, ... with a gradient of its own. */
static peat_node *leaf(struct fixture *f, int rank, const int64_t *dim)
{
    struct tensor x = tensor_new(&f->arena, f->g.dtype, rank, dim);
    int64_t n = tensor_count(&x);
    for (int64_t i = 0; i < n; i++)
        tensor_set(&x, i, (double)(i + 1));
    return graph_leaf(&f->g, &x, NULL, "x");
}

static peat_node *total(struct fixture *f, peat_node *a)
{
    return op_sum(f->base, op_reshape(f->base, a, 1, DIMS(-1)), 0);
}

static double grad_at(peat_node *n, int64_t i)
{
    struct tensor g = node_grad(n);
    return tensor_get(&g, i);
}

START_TEST(views_share_memory_in_both_directions)
{
    struct fixture f;
    setup(&f, PEAT_F64);
    peat_node *x = leaf(&f, 2, DIMS(3, 4));
    int64_t bytes = f.g.value_bytes;
    peat_node *t = op_permute(f.base, x, 2, AXES(1, 0));
    peat_node *s = op_slice(f.base, t, 0, 1, 3);
    ck_assert_ptr_eq(s->view_of, x);
    ck_assert_int_eq(s->view_offset, 1);
    ck_assert_int_eq(f.g.value_bytes, bytes);
    ck_assert(tensor_get(&s->value, 0) == 2.0 && tensor_get(&s->value, 1) == 6.0);
    graph_backward(&f.g, total(&f, op_affine(f.base, s, 3.0, 0.0)));
    for (int64_t i = 0; i < 12; i++)
        ck_assert(grad_at(x, i) == (i % 4 == 1 || i % 4 == 2 ? 3.0 : 0.0));
    teardown(&f);
}
END_TEST

START_TEST(parameters_accumulate_into_their_own_block)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    float value[3] = {1, 2, 3}, grad[3] = {10, 20, 30};
    struct tensor x = tensor_shape(PEAT_F32, 1, DIMS(3)), dx = x;
    x.data = value;
    dx.data = grad;
    peat_node *n = graph_leaf(&f.g, &x, &dx, "w");
    graph_backward(&f.g, total(&f, op_mul(f.base, n, n)));
    for (int i = 0; i < 3; i++)
        ck_assert(grad[i] == 10.0f * (float)(i + 1) + 2.0f * value[i]);
    teardown(&f);
}
END_TEST

START_TEST(backward_reaches_what_the_loss_depends_on_and_no_more)
{
    struct fixture f;
    setup(&f, PEAT_F64);
    peat_node *x = leaf(&f, 1, DIMS(3)), *y = leaf(&f, 1, DIMS(3)), *z = leaf(&f, 1, DIMS(3));
    peat_node *unused = op_exp(f.base, y);
    peat_node *stopped = op_floor(f.base, z);
    peat_node *loss = total(&f, op_add(f.base, op_mul(f.base, x, x), stopped));
    graph_backward(&f.g, loss);
    ck_assert(x->reached && loss->reached);
    ck_assert(!y->reached && !unused->reached && !z->reached && !stopped->reached);
    ck_assert_ptr_null(y->grad.data);
    ck_assert(grad_at(x, 2) == 6.0);
    teardown(&f);
}
END_TEST

START_TEST(plans_reach_the_same_nodes_without_memory)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    f.g.shape_only = true;
    struct tensor huge = tensor_shape(PEAT_F32, 2, DIMS(1 << 20, 1 << 20));
    peat_node *x = graph_leaf(&f.g, &huge, NULL, "x"), *y = graph_leaf(&f.g, &huge, NULL, "y");
    peat_node *p = op_matmul(f.base, op_gelu(f.base, x), x, PEAT_TRANS_B);
    peat_node *loss = total(&f, p);
    ck_assert_ptr_nonnull(loss);
    ck_assert_ptr_null(p->value.data);
    graph_reach(&f.g, loss);
    ck_assert(x->reached && p->reached && !y->reached);
    ck_assert_int_eq(f.g.flops, INT64_C(2) << 60);
    ck_assert(f.g.value_bytes >= INT64_C(8) << 40);
    ck_assert_uint_lt(f.arena.used, 1 << 20);
    teardown(&f);
}
END_TEST

START_TEST(evaluation_keeps_no_gradients)
{
    struct fixture f;
    setup(&f, PEAT_F64);
    f.g.no_grad = true;
    peat_node *x = leaf(&f, 1, DIMS(3));
    peat_node *loss = total(&f, op_mul(f.base, x, x));
    ck_assert(!loss->needs_grad);
    graph_backward(&f.g, loss);
    ck_assert_ptr_null(x->grad.data);
    ck_assert(tensor_get(&loss->value, 0) == 14.0);
    teardown(&f);
}
END_TEST

START_TEST(the_first_error_sticks_and_names_hook_and_operation)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *a = leaf(&f, 1, DIMS(3)), *b = leaf(&f, 1, DIMS(4));
    f.g.hook = "alibi.bias";
    peat_node *bad = op_add(f.base, a, b);
    ck_assert_ptr_null(bad);
    ck_assert(graph_failed(&f.g));
    ck_assert_str_eq(f.g.err.text, "alibi.bias: add: shapes [3] and [4] do not broadcast");
    ck_assert_ptr_null(op_matmul(f.base, bad, a, 0));
    ck_assert_ptr_null(peat_fail(f.base, "second"));
    ck_assert_ptr_null(op_exp(f.base, a));
    ck_assert_str_eq(f.g.err.text, "alibi.bias: add: shapes [3] and [4] do not broadcast");
    teardown(&f);
}
END_TEST

START_TEST(a_hook_can_fail_in_its_own_words)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    f.g.hook = "mine.encode";
    ck_assert_ptr_null(peat_fail(f.base, "length %d is beyond %d", 9, 8));
    ck_assert_str_eq(f.g.err.text, "mine.encode: length 9 is beyond 8");
    teardown(&f);
}
END_TEST

static peat_node *misuse(struct fixture *f, int which)
{
    peat_graph *g = f->base;
    peat_node *a = leaf(f, 2, DIMS(3, 4)), *v = leaf(f, 1, DIMS(4));
    static const int32_t index[] = {0, 3, 1};
    peat_node *i = graph_constant(&f->g, PEAT_I32, 1, DIMS(3), (void *)(uintptr_t)index);
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
        return op_concat(g, 2, (peat_node *const[]){a, leaf(f, 2, DIMS(3, 5))}, 0);
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
        return op_expand(g, leaf(f, 1, DIMS(1)), 2, DIMS(INT64_C(1) << 40, INT64_C(1) << 40));
    case 25:
        return graph_constant(&f->g, PEAT_F32, 2, DIMS(3, -1), NULL);
    case 26:
        return graph_constant(&f->g, PEAT_F64, 1, DIMS(3), NULL) == NULL
                   ? NULL
                   : op_exp(g, graph_constant(&f->g, PEAT_F64, 1, DIMS(3), NULL));
    case 27:
        return op_mean(g, op_slice(g, a, 0, 1, 1), 0);
    case 28:
        return op_custom(g, &(const peat_op){.size = sizeof(peat_op), .name = "half"}, 1, &a, NULL,
                         0);
    default:
        return op_reshape(g, NULL, 0, NULL);
    }
}

START_TEST(misuse_is_an_error_with_a_text)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    ck_assert_ptr_null(misuse(&f, _i));
    ck_assert(graph_failed(&f.g));
    ck_assert_msg(strchr(f.g.err.text, ':') != NULL, "%s", f.g.err.text);
    teardown(&f);
}
END_TEST

START_TEST(empty_axes_pass_through_every_kind_of_operation)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_graph *g = f.base;
    peat_node *x = leaf(&f, 3, DIMS(2, 0, 4)), *w = leaf(&f, 2, DIMS(5, 4)),
              *b = leaf(&f, 1, DIMS(5));
    peat_node *y = op_linear(g, op_gelu(g, x), w, b);
    y = op_mul(g, y, leaf(&f, 1, DIMS(1)));
    y = op_cumsum(g, op_concat(g, 2, (peat_node *const[]){y, y}, 1), 1, false);
    y = op_contiguous(g, op_permute(g, y, 3, AXES(2, 0, 1)));
    y = op_matmul(g, op_reshape(g, y, 2, DIMS(5, 0)), leaf(&f, 2, DIMS(0, 3)), 0);
    ck_assert_int_eq(tensor_count(&y->value), 15);
    peat_node *loss = total(&f, op_add(g, y, op_pad(g, op_slice(g, w, 1, 2, 2), 1, 3, 0)));
    graph_backward(&f.g, loss);
    ck_assert_msg(!graph_failed(&f.g), "%s", f.g.err.text);
    ck_assert(tensor_get(&loss->value, 0) == 0.0);
    ck_assert(grad_at(w, 7) == 0.0 && grad_at(b, 0) == 0.0);
    teardown(&f);
}
END_TEST

START_TEST(sums_of_nothing_are_zero)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *y = op_sum(f.base, leaf(&f, 2, DIMS(3, 0)), 1);
    ck_assert(tensor_count(&y->value) == 3 && tensor_get(&y->value, 2) == 0.0);
    teardown(&f);
}
END_TEST

START_TEST(the_first_nonfinite_node_is_named)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *x = leaf(&f, 1, DIMS(3));
    peat_node *big = op_affine(f.base, x, 1e30, 0.0);
    ck_assert_ptr_null(graph_first_nonfinite(&f.g, false));
    peat_node *inf = op_mul(f.base, big, big);
    peat_node *nan = op_sub(f.base, inf, inf);
    ck_assert(isnan(tensor_get(&nan->value, 0)));
    ck_assert_ptr_eq(graph_first_nonfinite(&f.g, false), inf);
    teardown(&f);
}
END_TEST

START_TEST(nonfinite_gradients_are_found_too)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *x = leaf(&f, 1, DIMS(3));
    peat_node *loss = total(&f, op_sqrt(f.base, op_affine(f.base, x, 0.0, 0.0)));
    graph_backward(&f.g, loss);
    ck_assert_ptr_null(graph_first_nonfinite(&f.g, false));
    ck_assert_ptr_nonnull(graph_first_nonfinite(&f.g, true));
    teardown(&f);
}
END_TEST

START_TEST(comparisons_and_clamps_let_nan_pass)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *x = leaf(&f, 1, DIMS(2)), *bad = leaf(&f, 1, DIMS(2));
    tensor_set(&bad->value, 0, NAN);
    peat_node *y[] = {
        op_minimum(f.base, x, bad), op_minimum(f.base, bad, x), op_maximum(f.base, x, bad),
        op_maximum(f.base, bad, x), op_relu(f.base, bad),       op_clamp(f.base, bad, 0.0, 1.0),
    };
    for (size_t i = 0; i < sizeof(y) / sizeof(*y); i++)
        ck_assert(isnan(tensor_get(&y[i]->value, 0)) && !isnan(tensor_get(&y[i]->value, 1)));
    teardown(&f);
}
END_TEST

START_TEST(operands_of_another_graph_are_refused)
{
    struct fixture f, other;
    setup(&f, PEAT_F32);
    setup(&other, PEAT_F32);
    ck_assert_ptr_null(op_exp(f.base, leaf(&other, 1, DIMS(3))));
    ck_assert_ptr_nonnull(strstr(f.g.err.text, "another graph"));
    teardown(&other);
    teardown(&f);
}
END_TEST

START_TEST(reshape_copies_only_when_strides_cannot_say_it)
{
    struct fixture f;
    setup(&f, PEAT_F32);
    peat_node *x = leaf(&f, 3, DIMS(2, 3, 4));
    int64_t bytes = f.g.value_bytes;
    peat_node *heads = op_reshape(f.base, op_slice(f.base, x, 2, 0, 2), 4, DIMS(2, 3, 1, 2));
    ck_assert_ptr_eq(heads->view_of, x);
    peat_node *merged = op_reshape(f.base, op_permute(f.base, x, 3, AXES(2, 0, 1)), 2, DIMS(4, 6));
    ck_assert_ptr_eq(merged->view_of, x);
    ck_assert_int_eq(f.g.value_bytes, bytes);
    peat_node *copied = op_reshape(f.base, op_permute(f.base, x, 3, AXES(1, 0, 2)), 2, DIMS(6, 4));
    ck_assert_ptr_ne(copied->view_of, x);
    ck_assert(tensor_get(&copied->value, 4) == 13.0);
    teardown(&f);
}
END_TEST

int main(void)
{
    return run_list(
        (struct tests){"graph", .loops = LOOPS({misuse_is_an_error_with_a_text, 30})},
        TESTS(views_share_memory_in_both_directions, parameters_accumulate_into_their_own_block,
              backward_reaches_what_the_loss_depends_on_and_no_more,
              plans_reach_the_same_nodes_without_memory, evaluation_keeps_no_gradients,
              the_first_error_sticks_and_names_hook_and_operation, a_hook_can_fail_in_its_own_words,
              empty_axes_pass_through_every_kind_of_operation, sums_of_nothing_are_zero,
              the_first_nonfinite_node_is_named, nonfinite_gradients_are_found_too,
              comparisons_and_clamps_let_nan_pass, operands_of_another_graph_are_refused,
              reshape_copies_only_when_strides_cannot_say_it));
}
