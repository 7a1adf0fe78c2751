/* SPDX-License-Identifier: MIT */
/*
 * test_ops.c: what the general operations compute, against their definitions written as plain
 * loops. A gradient check cannot see a wrong function that is consistently differentiated.
 */
#include "autograd/ops.h"

#include "support/products.h"
#include "support/support.h"

#define DIMS(...)    ((const int64_t[]){__VA_ARGS__})
#define AXES(...)    ((const int32_t[]){__VA_ARGS__})
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static struct arena arena;
static struct graph graph;
static peat_graph *const g = &graph.base;

static void set_up(void)
{
    arena_init(&arena, "test", 1 << 16);
    graph_init(&graph, &arena, lone_team(), PEAT_F64);
}

static void tear_down(void)
{
    arena_release(&arena);
}

/* first, first + step, ... */
static peat_node *ramp(int rank, const int64_t *dim, double first, double step)
{
    peat_node *n = graph_constant(&graph, PEAT_F64, rank, dim, NULL);
    int64_t count = tensor_count(&n->value);
    for (int64_t i = 0; i < count; i++)
        tensor_set(&n->value, i, first + step * (double)i);
    return n;
}

static double get(const peat_node *n, int64_t i)
{
    return tensor_get(&n->value, i);
}

static void check_shape(const peat_node *n, int rank, const int64_t *dim)
{
    ck_assert_msg(n != NULL, "%s", graph.err.text);
    ck_assert_int_eq(n->value.rank, rank);
    for (int i = 0; i < rank; i++)
        ck_assert_int_eq(n->value.dim[i], dim[i]);
}

static void check_values(const peat_node *n, const double *want)
{
    int64_t count = tensor_count(&n->value);
    for (int64_t i = 0; i < count; i++)
        ck_assert_msg(get(n, i) == want[i], "element %lld is %g, not %g", (long long)i, get(n, i),
                      want[i]);
}

TEST(elementwise_operations_broadcast_from_the_last_axis)
{
    peat_node *a = ramp(3, DIMS(2, 3, 1), -2.5, 1.0), *b = ramp(1, DIMS(4), -1.2, 0.9);
    peat_node *y[] = {op_add(g, a, b), op_sub(g, a, b),     op_mul(g, a, b),
                      op_div(g, a, b), op_minimum(g, a, b), op_maximum(g, a, b)};
    for (int k = 0; k < COUNT(y); k++)
        check_shape(y[k], 3, DIMS(2, 3, 4));
    for (int64_t i = 0; i < 24; i++) {
        double u = get(a, i / 4), v = get(b, i % 4);
        ck_assert(get(y[0], i) == u + v && get(y[1], i) == u - v && get(y[2], i) == u * v);
        ck_assert(get(y[3], i) == u / v);
        ck_assert(get(y[4], i) == fmin(u, v) && get(y[5], i) == fmax(u, v));
    }
}

TEST(functions_of_one_element_match_libm)
{
    peat_node *a = ramp(1, DIMS(41), -4.0, 0.2), *p = ramp(1, DIMS(41), 0.1, 0.2);
    peat_node *y[] = {op_exp(g, a),
                      op_log(g, p),
                      op_log1p(g, p),
                      op_sqrt(g, p),
                      op_sin(g, a),
                      op_cos(g, a),
                      op_tanh(g, a),
                      op_sigmoid(g, a),
                      op_log_sigmoid(g, a),
                      op_softplus(g, a),
                      op_relu(g, a),
                      op_gelu(g, a),
                      op_gelu_tanh(g, a),
                      op_abs(g, a),
                      op_floor(g, a),
                      op_clamp(g, a, -1.5, 0.5),
                      op_affine(g, a, 3.0, -0.5)};
    for (int64_t i = 0; i < 41; i++) {
        double x = get(a, i), z = get(p, i), phi = 0.5 * (1.0 + erf(x / sqrt(2.0)));
        double u = sqrt(2.0 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
        const double want[] = {exp(x),
                               log(z),
                               log1p(z),
                               sqrt(z),
                               sin(x),
                               cos(x),
                               tanh(x),
                               1.0 / (1.0 + exp(-x)),
                               -log(1.0 + exp(-x)),
                               log(1.0 + exp(x)),
                               fmax(x, 0.0),
                               x * phi,
                               0.5 * x * (1.0 + tanh(u)),
                               fabs(x),
                               floor(x),
                               fmin(fmax(x, -1.5), 0.5),
                               3.0 * x - 0.5};
        for (int k = 0; k < COUNT(y); k++)
            ck_assert_double_eq_tol(get(y[k], i), want[k], 1e-13 * fmax(1.0, fabs(want[k])));
    }
}

TEST(saturating_functions_stay_finite)
{
    peat_node *a = ramp(1, DIMS(2), -1000.0, 2000.0);
    check_values(op_sigmoid(g, a), (const double[]){0.0, 1.0});
    check_values(op_log_sigmoid(g, a), (const double[]){-1000.0, 0.0});
    check_values(op_softplus(g, a), (const double[]){0.0, 1000.0});
    check_values(op_tanh(g, a), (const double[]){-1.0, 1.0});
}

static const struct {
    int rank_a, rank_b, rank;
    int64_t a[2], b[2], lead[2];
} batches[] = {
    {0, 0, 0, {0}, {0}, {0}}, {2, 0, 2, {2, 3}, {0}, {2, 3}},    {0, 1, 1, {0}, {3}, {3}},
    {1, 1, 1, {9}, {9}, {9}}, {2, 2, 2, {2, 1}, {1, 3}, {2, 3}}, {1, 2, 2, {3}, {2, 1}, {2, 3}},
};

/* Offset of the matrix of t that stands at a point of the leading axes. */
static int64_t matrix_at(const struct tensor *t, int rank, const int64_t *lead, int64_t point)
{
    int64_t offset = 0;
    for (int i = rank - 1; i >= 0; i--) {
        int own = i - (rank - (t->rank - 2));
        if (own >= 0 && t->dim[own] != 1)
            offset += point % lead[i] * t->stride[own];
        point /= lead[i];
    }
    return offset;
}

LOOP_TEST(matmul_is_the_sum_of_products_for_every_batch_and_flag, 4)
{
    enum { M = 3, K = 5, N = 4 };
    bool ta = (_i & PEAT_TRANS_A) != 0, tb = (_i & PEAT_TRANS_B) != 0;
    for (int l = 0; l < COUNT(batches); l++) {
        int ra = batches[l].rank_a, rb = batches[l].rank_b, r = batches[l].rank;
        int64_t da[4], db[4], points = 1;
        memcpy(da, batches[l].a, sizeof(batches[l].a));
        memcpy(db, batches[l].b, sizeof(batches[l].b));
        da[ra] = ta ? K : M;
        da[ra + 1] = ta ? M : K;
        db[rb] = tb ? N : K;
        db[rb + 1] = tb ? K : N;
        for (int i = 0; i < r; i++)
            points *= batches[l].lead[i];
        peat_node *a = ramp(ra + 2, da, -7.0, 1.0), *b = ramp(rb + 2, db, 11.0, -2.0);
        peat_node *c = op_matmul(g, a, b, (uint32_t)_i);
        ck_assert_int_eq(tensor_count(&c->value), points * M * N);
        for (int64_t i = 0; i < points * M * N; i++) {
            const double *pa = a->value.data, *pb = b->value.data;
            pa += matrix_at(&a->value, r, batches[l].lead, i / (M * N));
            pb += matrix_at(&b->value, r, batches[l].lead, i / (M * N));
            int64_t row = i / N % M, col = i % N;
            double sum = 0.0;
            for (int64_t k = 0; k < K; k++)
                sum += pa[ta ? k * M + row : row * K + k] * pb[tb ? col * K + k : k * N + col];
            ck_assert(get(c, i) == sum);
        }
    }
}

TEST(matmul_and_linear_read_views_as_their_copies)
{
    peat_node *x = ramp(4, DIMS(2, 3, 4, 5), -60.0, 1.0), *w = ramp(2, DIMS(5, 7), 3.0, -1.0);
    static const int32_t orders[][4] = {{0, 2, 1, 3}, {0, 1, 3, 2}, {3, 2, 1, 0}, {2, 0, 3, 1}};
    for (int k = 0; k < COUNT(orders); k++) {
        peat_node *v = op_permute(g, x, 4, orders[k]);
        peat_node *dense = op_contiguous(g, v);
        int64_t last = v->value.dim[3];
        peat_node *part = op_slice(g, op_permute(g, w, 2, AXES(1, 0)), 0, 1, 1 + last);
        part = op_slice(g, part, 1, 2, 5);
        peat_node *part_dense = op_contiguous(g, part);
        peat_node *weight = op_permute(g, part, 2, AXES(1, 0));
        ck_assert(part_dense != part && dense != v);
        peat_node *want = op_matmul(g, dense, part_dense, 0);
        check_values(op_matmul(g, v, part, 0), want->value.data);
        check_values(op_linear(g, v, weight, NULL), want->value.data);
    }
}

TEST(linear_multiplies_by_the_transposed_weight)
{
    peat_node *x = ramp(3, DIMS(2, 3, 4), -5.0, 1.0), *w = ramp(2, DIMS(5, 4), 9.0, -1.0);
    peat_node *b = ramp(1, DIMS(5), 100.0, 10.0);
    peat_node *y = op_linear(g, x, w, b);
    check_shape(y, 3, DIMS(2, 3, 5));
    for (int64_t i = 0; i < 30; i++) {
        double sum = get(b, i % 5);
        for (int64_t k = 0; k < 4; k++)
            sum += get(x, i / 5 * 4 + k) * get(w, i % 5 * 4 + k);
        ck_assert(get(y, i) == sum);
    }
}

TEST(permute_moves_axes_and_slice_cuts_them)
{
    peat_node *x = ramp(3, DIMS(2, 3, 4), 0.0, 1.0);
    peat_node *y = op_permute(g, x, 3, AXES(2, 0, -2));
    check_shape(y, 3, DIMS(4, 2, 3));
    for (int64_t i = 0; i < 24; i++)
        ck_assert(get(y, i) == (double)(i / 3 % 2 * 12 + i % 3 * 4 + i / 6));
    peat_node *s = op_slice(g, y, -1, 1, 3);
    check_shape(s, 3, DIMS(4, 2, 2));
    for (int64_t i = 0; i < 16; i++)
        ck_assert(get(s, i) == get(y, i / 2 * 3 + 1 + i % 2));
}

/* Reshape keeps row-major order whether it is a view of strides or a copy. */
TEST(reshape_keeps_the_order_of_elements)
{
    static const int32_t orders[][3] = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}, {0, 2, 1}, {2, 1, 0}};
    static const struct {
        int n;
        int64_t dim[6];
    } shapes[] = {{1, {-1}},
                  {2, {2, 60}},
                  {2, {60, 2}},
                  {3, {4, -1, 5}},
                  {4, {2, 3, 4, 5}},
                  {4, {5, 2, 2, 6}},
                  {5, {2, 2, 5, 3, 2}},
                  {5, {6, 1, 4, 1, 5}},
                  {6, {1, 2, 2, 5, 6, 1}}};
    peat_node *x = ramp(3, DIMS(6, 4, 5), 0.0, 1.0);
    for (int o = 0; o < COUNT(orders); o++)
        for (int s = 0; s < COUNT(shapes); s++)
            for (int cut = 0; cut < 2; cut++) {
                peat_node *v = op_permute(g, x, 3, orders[o]);
                /* Half of a longer axis: gaps that no reshape may close. */
                peat_node *wide = op_concat(g, 2, (peat_node *const[]){v, v}, 1);
                v = cut ? op_slice(g, wide, 1, 0, v->value.dim[1]) : v;
                peat_node *y = op_reshape(g, v, shapes[s].n, shapes[s].dim);
                ck_assert_msg(y != NULL, "%s", graph.err.text);
                ck_assert_int_eq(tensor_count(&y->value), 120);
                for (int64_t i = 0; i < 120; i++)
                    ck_assert(get(y, i) == get(v, i));
            }
}

TEST(concat_pad_and_expand_place_elements)
{
    peat_node *a = ramp(2, DIMS(2, 2), 1.0, 1.0), *b = ramp(2, DIMS(1, 1), 9.0, 0.0);
    peat_node *c = op_concat(g, 3, (peat_node *const[]){b, a, b}, -1);
    check_shape(c, 2, DIMS(2, 4));
    check_values(c, (const double[]){9, 1, 2, 9, 9, 3, 4, 9});
    c = op_concat(g, 2, (peat_node *const[]){a, ramp(2, DIMS(1, 2), 7.0, 1.0)}, 0);
    check_values(c, (const double[]){1, 2, 3, 4, 7, 8});
    peat_node *p = op_pad(g, a, 0, 1, 1);
    check_shape(p, 2, DIMS(4, 2));
    check_values(p, (const double[]){0, 0, 1, 2, 3, 4, 0, 0});
    check_values(op_pad(g, a, -1, 0, 1), (const double[]){1, 2, 0, 3, 4, 0});
    peat_node *e = op_expand(g, op_slice(g, a, 1, 0, 1), 3, DIMS(2, 2, 2));
    check_shape(e, 3, DIMS(2, 2, 2));
    check_values(e, (const double[]){1, 1, 3, 3, 1, 1, 3, 3});
}

TEST(sums_means_and_running_sums_follow_their_axis)
{
    peat_node *a = ramp(2, DIMS(2, 3), 1.0, 1.0);
    peat_node *s = op_sum(g, a, 0);
    check_shape(s, 2, DIMS(1, 3));
    check_values(s, (const double[]){5, 7, 9});
    check_values(op_sum(g, a, -1), (const double[]){6, 15});
    check_values(op_mean(g, a, 1), (const double[]){2, 5});
    check_values(op_cumsum(g, a, 1, false), (const double[]){1, 3, 6, 4, 9, 15});
    check_values(op_cumsum(g, a, 1, true), (const double[]){6, 5, 3, 15, 11, 6});
    check_values(op_cumsum(g, a, 0, false), (const double[]){1, 2, 3, 5, 7, 9});
    check_values(op_cumsum(g, a, 0, true), (const double[]){5, 7, 9, 4, 5, 6});
}

TEST(rows_and_elements_are_taken_by_index)
{
    static int32_t index[] = {2, 0, 1, 2, 2, 0};
    peat_node *i = graph_constant(&graph, PEAT_I32, 2, DIMS(2, 3), index);
    peat_node *rows = op_gather_rows(g, ramp(2, DIMS(3, 2), 0.0, 1.0), i);
    check_shape(rows, 3, DIMS(2, 3, 2));
    check_values(rows, (const double[]){4, 5, 0, 1, 2, 3, 4, 5, 4, 5, 0, 1});
    /* Two heads, their own tables of three; the same index for both. */
    peat_node *t = op_take_last(g, ramp(3, DIMS(2, 1, 3), 0.0, 1.0), i);
    check_shape(t, 3, DIMS(2, 2, 3));
    check_values(t, (const double[]){2, 0, 1, 2, 2, 0, 5, 3, 4, 5, 5, 3});
    /* One index for each row. */
    t = op_take_last(g, ramp(2, DIMS(2, 3), 0.0, 1.0), i);
    check_values(t, (const double[]){2, 0, 1, 5, 5, 3});
}

TEST(elements_are_summed_by_index)
{
    static int32_t index[] = {2, 0, 2, 1, 1, 1};
    peat_node *i = graph_constant(&graph, PEAT_I32, 2, DIMS(2, 3), index);
    /* Two heads with the same index. */
    peat_node *y = op_scatter_last(g, ramp(3, DIMS(2, 2, 3), 1.0, 1.0), i, 4);
    check_shape(y, 3, DIMS(2, 2, 4));
    check_values(y, (const double[]){2, 0, 4, 0, 0, 15, 0, 0, 8, 0, 16, 0, 0, 33, 0, 0});
}

enum { WIDE = 71, PLACES = 9 };

static peat_node *trained_ramp(int rank, const int64_t *dim, double first, double step)
{
    return graph_leaf(&graph, &ramp(rank, dim, first, step)->value, NULL, "x");
}

/* d/dx of the sum of y_i (1 + i), in out[]. */
static void weighted_gradient(peat_node *y, peat_node *x, double *out)
{
    peat_node *flat = op_reshape(g, y, 1, DIMS(-1));
    int64_t n = tensor_count(&y->value);
    graph_backward(&graph, op_sum(g, op_mul(g, flat, ramp(1, DIMS(n), 1, 1)), 0));
    ck_assert_msg(!graph_failed(&graph), "%s", graph.err.text);
    struct tensor grad = node_grad(x);
    for (int64_t i = 0; i < tensor_count(&grad); i++)
        out[i] = tensor_get(&grad, i);
}

/* [4, WIDE]: up, down, clipped and uneven, each longer than what vectors move at once. */
static peat_node *indices_of_every_kind(int32_t *index)
{
    for (int j = 0; j < WIDE; j++) {
        index[j] = j + 3;
        index[WIDE + j] = 2 * WIDE - 1 - j;
        index[2 * WIDE + j] = j < 5 ? 5 - j : 0;
        index[3 * WIDE + j] = j * 7 % 13;
    }
    return graph_constant(&graph, PEAT_I32, 2, DIMS(4, WIDE), index);
}

TEST(indices_are_taken_alike_however_they_run)
{
    static int32_t index[4 * WIDE];
    double grad[4 * 2 * WIDE], want[4 * 2 * WIDE] = {0};
    peat_node *x = trained_ramp(2, DIMS(4, 2 * WIDE), 0.5, 0.25);
    peat_node *y = op_take_last(g, x, indices_of_every_kind(index));
    for (int i = 0; i < 4 * WIDE; i++) {
        int at = i / WIDE * 2 * WIDE + index[i];
        ck_assert_double_eq(get(y, i), get(x, at));
        want[at] += 1.0 + i;
    }
    weighted_gradient(y, x, grad);
    for (int i = 0; i < 4 * 2 * WIDE; i++)
        ck_assert_double_eq(grad[i], want[i]);
}

/* The second of two sums adds to the gradient that the first has written. */
TEST(elements_are_summed_alike_however_indices_run)
{
    static int32_t index[4 * WIDE];
    double grad[4 * WIDE], want[4 * 2 * WIDE] = {0};
    peat_node *x = trained_ramp(2, DIMS(4, WIDE), 0.5, 0.25), *at = indices_of_every_kind(index);
    peat_node *y = op_scatter_last(g, x, at, 2 * WIDE);
    for (int i = 0; i < 4 * WIDE; i++)
        want[i / WIDE * 2 * WIDE + index[i]] += get(x, i);
    for (int i = 0; i < 4 * 2 * WIDE; i++)
        ck_assert_double_eq(get(y, i), want[i]);
    weighted_gradient(op_add(g, y, op_scatter_last(g, x, at, 2 * WIDE)), x, grad);
    for (int i = 0; i < 4 * WIDE; i++)
        ck_assert_double_eq(grad[i], 2.0 * (1.0 + i / WIDE * 2 * WIDE + index[i]));
}

TEST(sums_of_elements_check_their_operands)
{
    static int32_t index[] = {0, 4, 1, 2, 3, 0};
    peat_node *i = graph_constant(&graph, PEAT_I32, 2, DIMS(2, 3), index);
    ck_assert_ptr_null(op_scatter_last(g, ramp(2, DIMS(2, 4), 0, 1), i, 5));
    ck_assert_str_eq(graph.err.text,
                     "scatter_last: operand [2, 4], index [2, 3] and 5 sums do not fit");
    graph_init(&graph, &arena, NULL, PEAT_F64);
    i = graph_constant(&graph, PEAT_I32, 2, DIMS(2, 3), index);
    ck_assert_ptr_null(op_scatter_last(g, ramp(2, DIMS(2, 3), 0, 1), i, 4));
    ck_assert_str_eq(graph.err.text, "scatter_last: index 4 is not in 0..3");
}

TEST(whole_numbers_are_refused_where_rows_are_real)
{
    static int32_t whole[] = {0, 1, 2, 3};
    for (int which = 0; which < 4; which++) {
        graph_init(&graph, &arena, NULL, PEAT_F64);
        peat_node *i = graph_constant(&graph, PEAT_I32, 2, DIMS(2, 2), whole);
        peat_node *angle = ramp(2, DIMS(2, 1), 0, 1);
        peat_node *y = which == 0   ? op_softmax(g, i, NULL)
                       : which == 1 ? op_normalize(g, i, 1e-5)
                       : which == 2 ? op_rotate(g, i, angle, angle, PEAT_HALVES)
                                    : op_dropout(g, i, 0.5, 1);
        ck_assert_ptr_null(y);
        ck_assert_ptr_nonnull(strstr(graph.err.text, "operand 1 must be real, not I32"));
    }
}

enum { HEADS = 12, ROWS = 50, TABLE = 37, CHANNELS = 8 };

/* The result and both gradients, one behind the other. */
static int64_t taken(bool at_once, int threads, int64_t tables, float *out)
{
    static int32_t index[ROWS * ROWS];
    for (int i = 0; i < ROWS * ROWS; i++) {
        const int distance = i / ROWS - i % ROWS;
        index[i] = distance < 0 ? 0 : distance < TABLE ? distance : TABLE - 1;
    }
    const struct team team = team_of(threads);
    graph_init(&graph, &arena, &team, PEAT_F32);
    peat_node *operand[2];
    const int64_t many[] = {HEADS, tables}, long_[] = {ROWS, TABLE};
    for (int k = 0; k < 2; k++) {
        peat_node *x = graph_constant(&graph, PEAT_F32, 3, DIMS(many[k], long_[k], CHANNELS), NULL);
        for (int64_t i = 0; i < tensor_count(&x->value); i++)
            tensor_set(&x->value, i, sin(1.0 + (double)(i * (k + 3))));
        operand[k] = graph_leaf(&graph, &x->value, NULL, "x");
    }
    peat_node *at = graph_constant(&graph, PEAT_I32, 2, DIMS(ROWS, ROWS), index);
    /* As attention's heads stand, so that no product is one of all rows. */
    peat_node *a = op_permute(g, op_contiguous(g, op_permute(g, operand[0], 3, AXES(1, 0, 2))), 3,
                              AXES(1, 0, 2));
    peat_node *y = at_once ? op_matmul_take(g, a, operand[1], PEAT_TRANS_B, at)
                           : op_take_last(g, op_matmul(g, a, operand[1], PEAT_TRANS_B), at);
    ck_assert_msg(y != NULL, "%s", graph.err.text);
    const bool is_one_step = strcmp(y->op->name, "matmul_take") == 0;
    ck_assert_int_eq(is_one_step, at_once);
    int64_t n = 0;
    for (int64_t i = 0; i < tensor_count(&y->value); i++)
        out[n++] = (float)get(y, i);
    graph_backward(&graph, op_sum(g, op_reshape(g, op_mul(g, y, op_exp(g, y)), 1, DIMS(-1)), 0));
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < tensor_count(&operand[k]->value); i++)
            out[n++] = (float)tensor_get(&operand[k]->grad, i);
    return n;
}

LOOP_TEST(a_product_that_is_taken_at_once_has_the_bits_of_both_steps, 2)
{
    enum { MOST = HEADS * (ROWS * ROWS + (ROWS + TABLE) * CHANNELS) };
    static float wanted[MOST], got[MOST];
    const int64_t tables = _i == 0 ? 1 : HEADS;
    const int64_t n = taken(false, 1, tables, wanted);
    for (int threads = 1; threads <= 3; threads++) {
        ck_assert_int_eq(taken(true, threads, tables, got), n);
        ck_assert_mem_eq(got, wanted, (size_t)n * sizeof(float));
    }
}

/* More rows than go side by side, and some over. */
TEST(running_sums_of_many_rows_are_those_of_each)
{
    double grad[PLACES * WIDE];
    for (int reverse = 0; reverse < 2; reverse++) {
        peat_node *x = trained_ramp(2, DIMS(PLACES, WIDE), 0.1, 0.3);
        peat_node *y = op_cumsum(g, x, 1, reverse);
        weighted_gradient(y, x, grad);
        for (int r = 0; r < PLACES; r++) {
            double sum = 0, back = 0;
            for (int t = 0; t < WIDE; t++) {
                int at = r * WIDE + (reverse ? WIDE - 1 - t : t), from = r * WIDE + WIDE - 1 - t;
                sum += get(x, at);
                ck_assert_double_eq(get(y, at), sum);
                from = reverse ? r * WIDE + t : from;
                back += 1.0 + from;
                ck_assert_double_eq(grad[from], back);
            }
        }
    }
}

/* Element i is added to lane i % 16; the lanes are then folded in halves. */
static float sum_in_lanes(const float *x, int n)
{
    float lane[16] = {0};
    for (int i = 0; i < n; i++)
        lane[i % 16] += x[i];
    for (int half = 8; half > 0; half /= 2)
        for (int j = 0; j < half; j++)
            lane[j] += lane[j + half];
    return lane[0];
}

/* The order of rounding is a promise: trained cells rest on these bits. */
TEST(norms_add_in_lanes_and_round_each_step)
{
    enum { LONGEST = 70 };
    graph_init(&graph, &arena, lone_team(), PEAT_F32);
    for (int n = 1; n <= LONGEST; n++) {
        peat_node *operand[3];
        float *v[3], centred[LONGEST], square[LONGEST];
        for (int k = 0; k < 3; k++) {
            operand[k] = graph_constant(&graph, PEAT_F32, 1, DIMS(n), NULL);
            v[k] = operand[k]->value.data;
            for (int i = 0; i < n; i++)
                v[k][i] = sinf((float)(1 + i * (k + 2))) * (k == 0 ? 3.0f : 1.0f);
        }
        float mean = sum_in_lanes(v[0], n) / (float)n;
        for (int i = 0; i < n; i++) {
            centred[i] = v[0][i] - mean;
            square[i] = centred[i] * centred[i];
        }
        double spread = (double)sum_in_lanes(square, n) / n;
        float rate = (float)(1.0 / sqrt(spread + 1e-5));
        peat_node *y = op_layernorm(g, operand[0], operand[1], operand[2], 1e-5);
        for (int i = 0; i < n; i++) {
            float want = centred[i] * rate;
            want *= v[1][i];
            want += v[2][i];
            ck_assert_msg(((const float *)y->value.data)[i] == want, "%d of %d: %.9g, not %.9g", i,
                          n, get(y, i), (double)want);
        }
    }
}

int main(void)
{
    return run_tests((struct tests){"operations", set_up, tear_down});
}
