/* SPDX-License-Identifier: MIT */
/*
 * test_ops.c: every general operation against central differences in F64, against itself in F32,
 * at several thread counts and without data; and proof that the check notices planted errors.
 */
#include <peat/custom.h>

#include "autograd/ops.h"
#include "support/gradcase.h"
#include "support/support.h"

#define DIMS(...)    ((const int64_t[]){__VA_ARGS__})
#define AXES(...)    ((const int32_t[]){__VA_ARGS__})
#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static peat_graph *base(struct graph *g)
{
    return &g->base;
}

static void check_all(const struct gradcase *c)
{
    gradcase_run(c);
    gradcase_f32(c);
    gradcase_threads(c);
    gradcase_shape(c);
}

static void check_table(const struct gradcase *c, int n)
{
    for (int i = 0; i < n; i++)
        check_all(&c[i]);
}

/* --- elementwise, two operands ------------------------------------------------------------- */

typedef peat_node *(*binary_fn)(peat_graph *, peat_node *, peat_node *);

static const struct {
    const char *name;
    binary_fn fn;
    double b_lo, b_hi;
} binaries[] = {
    {"add", op_add, -1, 1}, {"sub", op_sub, -1, 1},         {"mul", op_mul, -1, 1},
    {"div", op_div, 1, 2},  {"minimum", op_minimum, -1, 1}, {"maximum", op_maximum, -1, 1},
};

static const struct {
    int rank_a;
    int64_t a[4];
    int rank_b;
    int64_t b[4];
} pairs[] = {
    {1, {1}, 1, {1}},
    {2, {3, 5}, 2, {3, 5}},
    {3, {2, 3, 5}, 1, {5}},
    {1, {5}, 3, {2, 3, 5}},
    {3, {2, 3, 5}, 3, {1, 3, 5}},
    {2, {3, 1}, 2, {1, 5}},
    {3, {2, 3, 1}, 2, {3, 7}},
    {1, {7}, 1, {1}},
    {4, {2, 1, 3, 1}, 4, {1, 5, 1, 7}},
    {0, {0}, 2, {3, 2}},
    {3, {2, 3, 5}, 3, {1, 1, 1}},
};

BUILD(build_binary, (*(const binary_fn *)ctx)(g, in[0], in[1]))

/* Both operands are views: one transposed, one cut out of the middle. */
static peat_node *build_binary_views(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *a = op_permute(base(g), in[0], 2, AXES(1, 0));
    peat_node *b = op_slice(base(g), in[1], -1, 2, 7);
    return (*(const binary_fn *)ctx)(base(g), a, b);
}

BUILD(build_binary_self, (*(const binary_fn *)ctx)(g, in[0], in[0]))

LOOP_TEST(elementwise_gradients_match_for_every_broadcast, COUNT(binaries))
{
    for (int i = 0; i < COUNT(pairs); i++) {
        binary_fn fn = binaries[_i].fn;
        char name[64];
        snprintf(name, sizeof(name), "%s %d", binaries[_i].name, i);
        struct gradcase c = {name, 2, .build = build_binary, .ctx = &fn};
        c.input[0] = (struct gradcase_input){.rank = pairs[i].rank_a};
        c.input[1] = (struct gradcase_input){
            .rank = pairs[i].rank_b, .lo = binaries[_i].b_lo, .hi = binaries[_i].b_hi};
        for (int k = 0; k < 4; k++) {
            c.input[0].dim[k] = pairs[i].a[k];
            c.input[1].dim[k] = pairs[i].b[k];
        }
        check_all(&c);
    }
}

LOOP_TEST(elementwise_gradients_match_for_views, COUNT(binaries))
{
    binary_fn fn = binaries[_i].fn;
    double lo = binaries[_i].b_lo, hi = binaries[_i].b_hi;
    const struct gradcase c[] = {
        {binaries[_i].name, 2, {{2, {5, 3}}, {2, {3, 9}, lo, hi}}, build_binary_views, &fn},
        {binaries[_i].name, 2, {{2, {5, 3}}, {2, {1, 9}, lo, hi}}, build_binary_views, &fn},
        {binaries[_i].name, 2, {{2, {1, 3}}, {2, {3, 9}, lo, hi}}, build_binary_views, &fn},
    };
    check_table(c, COUNT(c));
    if (fn == op_add || fn == op_sub || fn == op_mul || fn == op_div) {
        const struct gradcase self = {"self", 1, {{2, {3, 5}, 1, 2}}, build_binary_self, &fn};
        gradcase_run(&self);
    }
}

/* --- elementwise, one operand -------------------------------------------------------------- */

typedef peat_node *(*unary_fn)(peat_graph *, peat_node *);

static peat_node *clamp_half(peat_graph *g, peat_node *a)
{
    return op_clamp(g, a, -0.5, 0.5);
}

static peat_node *affine_3_7(peat_graph *g, peat_node *a)
{
    return op_affine(g, a, 3.0, -0.7);
}

static const struct {
    const char *name;
    unary_fn fn;
    double lo, hi;
} unaries[] = {
    {"exp", op_exp, -3, 2},
    {"log", op_log, 0.3, 3},
    {"log1p", op_log1p, -0.5, 3},
    {"sqrt", op_sqrt, 0.3, 3},
    {"sin", op_sin, -4, 4},
    {"cos", op_cos, -4, 4},
    {"tanh", op_tanh, -3, 3},
    {"sigmoid", op_sigmoid, -6, 6},
    {"log_sigmoid", op_log_sigmoid, -20, 20},
    {"softplus", op_softplus, -20, 20},
    {"relu", op_relu, -1, 1},
    {"gelu", op_gelu, -2, 4},
    {"gelu_tanh", op_gelu_tanh, -2, 4},
    {"abs", op_abs, -1, 1},
    {"floor", op_floor, -3, 3},
    {"clamp", clamp_half, -1, 1},
    {"affine", affine_3_7, -1, 1},
    {"contiguous", op_contiguous, -1, 1},
};

BUILD(build_unary, (*(const unary_fn *)ctx)(g, in[0]))

BUILD(build_unary_permuted, (*(const unary_fn *)ctx)(g, op_permute(g, in[0], 3, AXES(2, 0, 1))))

BUILD(build_unary_sliced,
      (*(const unary_fn *)ctx)(g, op_slice(g, op_slice(g, in[0], 1, 1, 4), 0, 1, 3)))

LOOP_TEST(unary_gradients_match, COUNT(unaries))
{
    double lo = unaries[_i].lo, hi = unaries[_i].hi;
    unary_fn fn = unaries[_i].fn;
    const struct gradcase c[] = {
        {unaries[_i].name, 1, {{1, {1}, lo, hi}}, build_unary, &fn},
        {unaries[_i].name, 1, {{3, {2, 3, 7}, lo, hi}}, build_unary, &fn},
        {unaries[_i].name, 1, {{3, {5, 3, 2}, lo, hi}}, build_unary_permuted, &fn},
        {unaries[_i].name, 1, {{2, {4, 5}, lo, hi}}, build_unary_sliced, &fn},
        /* Longer than a buffer of the strided path. */
        {unaries[_i].name, 1, {{3, {300, 1, 2}, lo, hi}}, build_unary_permuted, &fn},
    };
    check_table(c, COUNT(c));
}

/* --- products ------------------------------------------------------------------------------ */

static const struct {
    int rank_a;
    int64_t a[2];
    int rank_b;
    int64_t b[2];
} leads[] = {
    {0, {0}, 0, {0}},       {1, {2}, 1, {2}},    {2, {2, 3}, 0, {0}},    {0, {0}, 1, {3}},
    {2, {2, 1}, 2, {1, 3}}, {1, {9}, 1, {9}},    {1, {9}, 1, {1}},       {1, {1}, 1, {9}},
    {2, {3, 2}, 1, {2}},    {1, {3}, 2, {1, 1}}, {2, {8, 1}, 2, {1, 2}},
};

static const int64_t sizes[][3] = {{1, 1, 1}, {2, 3, 5}, {7, 5, 3}};

BUILD(build_matmul, op_matmul(g, in[0], in[1], *(const uint32_t *)ctx))

static struct gradcase_input matrix_input(int lead, const int64_t *dim, int64_t rows, int64_t cols,
                                          bool transposed)
{
    struct gradcase_input in = {.rank = lead + 2};
    for (int i = 0; i < lead; i++)
        in.dim[i] = dim[i];
    in.dim[lead] = transposed ? cols : rows;
    in.dim[lead + 1] = transposed ? rows : cols;
    return in;
}

LOOP_TEST(matmul_gradients_match_for_every_batch_and_flag, 4)
{
    uint32_t flags = (uint32_t)_i;
    for (int l = 0; l < COUNT(leads); l++)
        for (int s = 0; s < COUNT(sizes); s++) {
            int64_t m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
            char name[64];
            snprintf(name, sizeof(name), "matmul lead %d size %d flags %u", l, s, flags);
            struct gradcase c = {name, 2, .build = build_matmul, .ctx = &flags};
            c.input[0] = matrix_input(leads[l].rank_a, leads[l].a, m, k, (flags & 1) != 0);
            c.input[1] = matrix_input(leads[l].rank_b, leads[l].b, k, n, (flags & 2) != 0);
            check_all(&c);
        }
}

/* Scores of attention: heads are permuted views of [B,T,H,C]. */
static peat_node *build_heads(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t heads[] = {0, 2, 1, 3};
    peat_node *q = op_permute(base(g), in[0], 4, heads);
    peat_node *k = op_permute(base(g), in[1], 4, heads);
    (void)ctx;
    return op_matmul(base(g), q, k, PEAT_TRANS_B);
}

/* Rows of a wider matrix: a leading dimension, no copy. */
BUILD(build_columns, op_matmul(g, op_slice(g, in[0], -1, 2, 5), op_slice(g, in[1], 1, 1, 5), 0))

/* Neither of the last two axes is dense: a copy is made. */
BUILD(build_reversed, op_matmul(g, op_permute(g, in[0], 3, AXES(2, 1, 0)), in[1], 0))

/* A column-major view: a flag, no copy. */
static peat_node *build_flipped(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t swap[] = {0, 2, 1};
    peat_node *a = op_permute(base(g), in[0], 3, swap), *b = op_permute(base(g), in[1], 3, swap);
    return op_matmul(base(g), a, b, *(const uint32_t *)ctx);
}

TEST(matmul_gradients_match_for_views)
{
    uint32_t none = 0, both = PEAT_TRANS_A | PEAT_TRANS_B;
    const struct gradcase c[] = {
        {"heads", 2, {{4, {2, 3, 4, 5}}, {4, {2, 7, 4, 5}}}, build_heads},
        {"columns", 2, {{3, {2, 3, 7}}, {2, {3, 6}}}, build_columns},
        {"reversed", 2, {{3, {3, 4, 2}}, {2, {3, 5}}}, build_reversed},
        {"flipped", 2, {{3, {2, 3, 4}}, {3, {2, 5, 3}}}, build_flipped, &none},
        {"flipped twice", 2, {{3, {2, 4, 3}}, {3, {2, 3, 5}}}, build_flipped, &both},
    };
    check_table(c, COUNT(c));
}

BUILD(build_linear, op_linear(g, in[0], in[1], ctx == NULL ? NULL : in[2]))

static peat_node *build_linear_views(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *x = op_slice(base(g), in[0], -1, 1, 4);
    peat_node *w = op_permute(base(g), in[1], 2, AXES(1, 0));
    (void)ctx;
    return op_linear(base(g), x, w, op_slice(base(g), in[2], 0, 1, 6));
}

BUILD(build_linear_permuted, op_linear(g, op_permute(g, in[0], 3, AXES(1, 2, 0)), in[1], in[2]))

TEST(linear_gradients_match)
{
    int with_bias = 1;
    const struct gradcase c[] = {
        {"linear 1", 2, {{2, {1, 1}}, {2, {1, 1}}}, build_linear},
        {"linear 2", 2, {{3, {2, 3, 5}}, {2, {7, 5}}}, build_linear},
        {"linear 3", 3, {{3, {2, 3, 5}}, {2, {7, 5}}, {1, {7}}}, build_linear, &with_bias},
        {"linear 4", 3, {{1, {5}}, {2, {7, 5}}, {1, {7}}}, build_linear, &with_bias},
        {"linear views", 3, {{3, {2, 3, 5}}, {2, {3, 5}}, {1, {7}}}, build_linear_views},
        {"linear copy", 3, {{3, {5, 2, 3}}, {2, {2, 5}}, {1, {2}}}, build_linear_permuted},
        {"linear fixed",
         3,
         {{2, {3, 5}, .fixed = true}, {2, {7, 5}}, {1, {7}}},
         build_linear,
         &with_bias},
    };
    check_table(c, COUNT(c));
}

/* --- shapes -------------------------------------------------------------------------------- */

BUILD(build_permute, op_permute(g, in[0], 3, AXES(1, -1, 0)))
BUILD(build_reshape, op_reshape(g, in[0], 2, DIMS(-1, 10)))
BUILD(build_reshape_view, op_reshape(g, op_permute(g, in[0], 3, AXES(2, 0, 1)), 3, DIMS(5, 3, 4)))
BUILD(build_reshape_copy, op_reshape(g, op_permute(g, in[0], 3, AXES(0, 2, 1)), 1, DIMS(60)))
BUILD(build_slice, op_slice(g, in[0], 1, 1, 3))
BUILD(build_slice_twice, op_slice(g, op_slice(g, in[0], 1, 1, 4), 2, 2, 5))
BUILD(build_slice_permuted,
      op_slice(g, op_permute(g, op_slice(g, in[0], 2, 1, 5), 3, AXES(2, 1, 0)), 0, 1, 3))
BUILD(build_concat, op_concat(g, 3, in, 1))
BUILD(build_concat_last, op_concat(g, 3, in, -1))
BUILD(build_concat_twice, op_concat(g, 2, (peat_node *const[]){in[0], in[0]}, 0))
BUILD(build_concat_views,
      op_concat(g, 2, (peat_node *const[]){op_permute(g, in[0], 2, AXES(1, 0)), in[1]}, -1))
BUILD(build_pad, op_pad(g, in[0], -1, 2, 3))
BUILD(build_pad_middle, op_pad(g, op_slice(g, in[0], 0, 1, 3), 1, 1, 0))
BUILD(build_expand, op_expand(g, in[0], 3, DIMS(4, 3, 5)))
BUILD(build_expand_rank, op_expand(g, in[0], 4, DIMS(1, 1, 3, 5)))
/* Views that overlap in their root share its gradient. */
BUILD(build_overlap, op_mul(g, op_slice(g, in[0], 0, 0, 4), op_slice(g, in[0], 0, 1, 5)))
/* A view that is used again after its root was used directly. */
BUILD(build_view_and_root, op_add(g, op_mul(g, in[0], in[0]), op_permute(g, in[0], 2, AXES(1, 0))))

TEST(shape_gradients_match)
{
    static const struct gradcase c[] = {
        {"permute", 1, {{3, {3, 4, 5}}}, build_permute},
        {"reshape", 1, {{3, {3, 4, 5}}}, build_reshape},
        {"reshape view", 1, {{3, {3, 4, 5}}}, build_reshape_view},
        {"reshape copy", 1, {{3, {3, 4, 5}}}, build_reshape_copy},
        {"slice", 1, {{3, {3, 4, 5}}}, build_slice},
        {"slice twice", 1, {{3, {3, 4, 5}}}, build_slice_twice},
        {"slice permuted", 1, {{3, {3, 4, 5}}}, build_slice_permuted},
        {"concat", 3, {{2, {3, 1}}, {2, {3, 4}}, {2, {3, 2}}}, build_concat},
        {"concat broadcast", 3, {{3, {1, 3, 2}}, {1, {4}}, {3, {2, 1, 1}}}, build_concat_last},
        {"concat twice", 1, {{2, {2, 3}}}, build_concat_twice},
        {"concat views", 2, {{2, {4, 3}}, {2, {1, 2}}}, build_concat_views},
        {"pad", 1, {{2, {3, 4}}}, build_pad},
        {"pad middle", 1, {{2, {3, 4}}}, build_pad_middle},
        {"expand", 1, {{2, {3, 1}}}, build_expand},
        {"expand rank", 1, {{2, {3, 5}}}, build_expand_rank},
        {"overlap", 1, {{2, {5, 3}}}, build_overlap},
        {"view and root", 1, {{2, {3, 3}}}, build_view_and_root},
    };
    check_table(c, COUNT(c));
}

/* --- sums ---------------------------------------------------------------------------------- */

BUILD(build_sum, op_sum(g, in[0], *(const int32_t *)ctx))

BUILD(build_mean, op_mean(g, op_permute(g, in[0], 3, AXES(1, 2, 0)), *(const int32_t *)ctx))

BUILD(build_cumsum, op_cumsum(g, in[0], *(const int32_t *)ctx, false))

BUILD(build_cumsum_reverse,
      op_cumsum(g, op_permute(g, in[0], 3, AXES(1, 2, 0)), *(const int32_t *)ctx, true))

LOOP_TEST(sum_gradients_match_along_every_axis, 6)
{
    int32_t axis = _i - 3;
    const struct gradcase c[] = {
        {"sum", 1, {{3, {3, 4, 5}}}, build_sum, &axis},
        {"sum of one", 1, {{3, {1, 1, 1}}}, build_sum, &axis},
        {"mean", 1, {{3, {3, 4, 5}}}, build_mean, &axis},
        {"cumsum", 1, {{3, {3, 4, 5}}}, build_cumsum, &axis},
        {"cumsum of one", 1, {{3, {1, 1, 1}}}, build_cumsum, &axis},
        {"cumsum wide", 1, {{3, {2, 3, 131}}}, build_cumsum, &axis},
        {"cumsum reverse", 1, {{3, {3, 4, 5}}}, build_cumsum_reverse, &axis},
    };
    check_table(c, COUNT(c));
}

/* --- indices ------------------------------------------------------------------------------- */

static const int32_t some_index[] = {2, 0, 2, 1, 3, 3, 0, 2, 1, 1, 2, 0,
                                     0, 3, 1, 2, 2, 2, 3, 0, 1, 3, 0, 2};

static peat_node *index_node(struct graph *g, int rank, const int64_t *dim)
{
    /* Constants borrow; nothing writes through an index. */
    return graph_constant(g, PEAT_I32, rank, dim, (void *)(uintptr_t)some_index);
}

BUILD(build_gather, op_gather_rows(g, in[0], index_node(graph, 1, DIMS(7))))
BUILD(build_gather_2d, op_gather_rows(g, in[0], index_node(graph, 2, DIMS(2, 3))))
BUILD(build_gather_view,
      op_gather_rows(g, op_permute(g, in[0], 2, AXES(1, 0)),
                     op_permute(g, index_node(graph, 2, DIMS(2, 3)), 2, AXES(1, 0))))
BUILD(build_take, op_take_last(g, in[0], index_node(graph, 1, DIMS(5))))
BUILD(build_take_rows, op_take_last(g, in[0], index_node(graph, 2, DIMS(3, 7))))
/* A table per head, one index per pair of positions. */
BUILD(build_take_heads,
      op_take_last(g, op_reshape(g, in[0], 3, DIMS(3, 1, 4)), index_node(graph, 2, DIMS(4, 5))))
/* Indices repeat: sums of several elements, and of none. */
BUILD(build_scatter, op_scatter_last(g, in[0], index_node(graph, 2, DIMS(3, 7)), 5))
BUILD(build_scatter_wide, op_scatter_last(g, in[0], index_node(graph, 4, DIMS(2, 1, 1, 7)), 6))
BUILD(build_take_both, op_take_last(g, in[0], index_node(graph, 4, DIMS(2, 1, 3, 4))))

TEST(index_gradients_match)
{
    static const struct gradcase c[] = {
        {"gather", 1, {{2, {4, 5}}}, build_gather},
        {"gather column", 1, {{2, {4, 1}}}, build_gather_2d},
        {"gather wide", 1, {{2, {4, 71}}}, build_gather_2d},
        {"gather view", 1, {{2, {5, 4}}}, build_gather_view},
        {"take", 1, {{1, {4}}}, build_take},
        {"take broadcast", 1, {{3, {2, 3, 4}}}, build_take},
        {"take rows", 1, {{3, {2, 3, 4}}}, build_take_rows},
        {"take one row", 1, {{2, {1, 4}}}, build_take_rows},
        {"take heads", 1, {{2, {3, 4}}}, build_take_heads},
        {"take both", 1, {{3, {5, 1, 4}}}, build_take_both},
        {"scatter", 1, {{2, {3, 7}}}, build_scatter},
        {"scatter broadcast", 1, {{4, {2, 4, 3, 7}}}, build_scatter},
        {"scatter heads", 1, {{4, {2, 3, 40, 7}}}, build_scatter_wide},
    };
    check_table(c, COUNT(c));
}

/* Of products [.., 3, 4]. */
BUILD(build_matmul_take,
      op_matmul_take(g, in[0], in[1], *(const uint32_t *)ctx, index_node(graph, 2, DIMS(3, 5))))

LOOP_TEST(matmul_take_gradients_match_for_every_batch_and_flag, 4)
{
    uint32_t flags = (uint32_t)_i;
    for (int l = 0; l < COUNT(leads); l++) {
        char name[64];
        snprintf(name, sizeof(name), "matmul_take lead %d flags %u", l, flags);
        struct gradcase c = {name, 2, .build = build_matmul_take, .ctx = &flags};
        c.input[0] = matrix_input(leads[l].rank_a, leads[l].a, 3, 2, (flags & 1) != 0);
        c.input[1] = matrix_input(leads[l].rank_b, leads[l].b, 2, 4, (flags & 2) != 0);
        check_all(&c);
    }
}

/* Heads are permuted views of [B,T,H,C]; ctx: the first axis of the index. */
static peat_node *build_taken_heads(struct graph *g, peat_node *const *in, void *ctx)
{
    static const int32_t heads[] = {0, 2, 1, 3};
    const int64_t B = *(const int64_t *)ctx;
    peat_node *q = op_permute(base(g), in[0], 4, heads);
    return op_matmul_take(base(g), q, in[1], PEAT_TRANS_B,
                          index_node(g, 4, DIMS(B, 1, 4, B == 1 ? 6 : 3)));
}

/* Both gradients are one. */
BUILD(build_taken_self,
      op_matmul_take(g, in[0], in[0], PEAT_TRANS_B, index_node(graph, 2, DIMS(4, 5))))

/* The index has an axis that the product lacks. */
BUILD(build_taken_twice,
      op_matmul_take(g, in[0], in[1], PEAT_TRANS_B, index_node(graph, 3, DIMS(2, 3, 4))))

TEST(matmul_take_gradients_match_for_views)
{
    int64_t one = 1, each = 2;
    const struct gradcase c[] = {
        {"heads", 2, {{4, {2, 4, 3, 5}}, {2, {4, 5}}}, build_taken_heads, &one},
        {"many heads", 2, {{4, {2, 4, 5, 3}}, {2, {4, 3}}}, build_taken_heads, &one},
        {"a table per head", 2, {{4, {2, 4, 3, 5}}, {3, {3, 4, 5}}}, build_taken_heads, &one},
        {"an index per row", 2, {{4, {2, 4, 3, 5}}, {2, {4, 5}}}, build_taken_heads, &each},
        {"self", 1, {{3, {3, 4, 2}}}, build_taken_self},
        {"twice", 2, {{2, {3, 5}}, {2, {4, 5}}}, build_taken_twice},
    };
    check_table(c, COUNT(c));
}

/* --- custom operations, right and wrong ---------------------------------------------------- */

enum fault { RIGHT, SIGN, SCALE, MISSING, ONE_INDEX, ZERO, ASSIGNS, FAULTS };

/* y = a b^2, with one planted error in the gradient. */
static bool infer_custom(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return c->n_src == 2 && c->src[1].shape.rank == out->rank;
}

static int64_t units_custom(const peat_op_call *c)
{
    int64_t n = 1;
    for (int i = 0; i < c->src[0].shape.rank; i++)
        n *= c->src[0].shape.dim[i];
    return n;
}

static double item(const peat_view *v, int64_t i)
{
    return v->dtype == PEAT_F32 ? (double)((const float *)v->data)[i]
                                : ((const double *)v->data)[i];
}

static void put(const peat_view *v, int64_t i, double x)
{
    if (v->dtype == PEAT_F32)
        ((float *)v->data)[i] = (float)x;
    else
        ((double *)v->data)[i] = x;
}

static void forward_custom(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        put(c->out, i, item(&c->src[0], i) * item(&c->src[1], i) * item(&c->src[1], i));
}

/* y = a b^2:  da += dy b^2, db += dy 2 a b */
static void backward_custom(const peat_op_call *c, int64_t begin, int64_t end)
{
    enum fault fault = *(const enum fault *)c->arg;
    const peat_view *da = &c->src_grad[0], *db = &c->src_grad[1];
    for (int64_t i = begin; i < end; i++) {
        double a = item(&c->src[0], i), b = item(&c->src[1], i), dy = item(c->out_grad, i);
        double to_a = dy * b * b, to_b = dy * 2.0 * a * b;
        to_a = fault == SIGN ? -to_a : fault == SCALE ? 1.01 * to_a : fault == ZERO ? 0 : to_a;
        to_b = fault == MISSING ? dy * a * b : to_b;
        if (fault == ONE_INDEX && i == 3)
            to_b = dy * 2.0 * item(&c->src[0], i - 1) * b;
        if (da->data != NULL)
            put(da, i, (fault == ASSIGNS ? 0.0 : item(da, i)) + to_a);
        if (db->data != NULL)
            put(db, i, item(db, i) + to_b);
    }
}

static const peat_op custom_op = {.size = sizeof(custom_op),
                                  .name = "cube",
                                  .infer = infer_custom,
                                  .units = units_custom,
                                  .forward = forward_custom,
                                  .backward = backward_custom};

static peat_node *build_custom(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *y = op_custom(base(g), &custom_op, 2, in, ctx, sizeof(enum fault));
    /* Used first, so its gradient already holds something when the custom backward runs. */
    return op_add(base(g), y, op_affine(base(g), in[0], 0.5, 0.0));
}

static peat_node *build_custom_views(struct graph *g, peat_node *const *in, void *ctx)
{
    peat_node *a = op_permute(base(g), in[0], 2, AXES(1, 0));
    peat_node *src[] = {a, op_slice(base(g), in[1], 0, 1, 4)};
    return op_custom(base(g), &custom_op, 2, src, ctx, sizeof(enum fault));
}

/* ---- two results and working memory: of each row x its numbers squared, and their sum ---- */

static bool infer_sums(const peat_op_call *c, peat_shape *out)
{
    out[0] = out[1] = c->src[0].shape;
    out[1].dim[1] = 1;
    return true;
}

static int64_t rows_of_sums(const peat_op_call *c)
{
    return c->src[0].shape.dim[0];
}

static int64_t scratch_of_sums(const peat_op_call *c)
{
    return c->src[0].shape.dim[1];
}

static void forward_sums(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t n = c->src[0].shape.dim[1];
    for (int64_t u = begin; u < end; u++) {
        double sum = 0;
        peat_load_row(&c->src[0], u * n, n, c->scratch);
        for (int64_t i = 0; i < n; i++) {
            sum += c->scratch[i];
            peat_store(&c->out[0], u * n + i, c->scratch[i] * c->scratch[i]);
        }
        peat_store(&c->out[1], u, sum);
    }
}

/* dx_i += 2 x_i dy_i + dsum */
static void backward_sums(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t n = c->src[0].shape.dim[1];
    for (int64_t u = begin; u < end; u++)
        for (int64_t i = u * n; i < (u + 1) * n; i++)
            peat_accumulate(&c->src_grad[0], i,
                            2 * peat_load(&c->src[0], i) * peat_load(&c->out_grad[0], i) +
                                peat_load(&c->out_grad[1], u));
}

static const peat_op sums_op = {.size = sizeof(sums_op),
                                .name = "sums",
                                .infer = infer_sums,
                                .units = rows_of_sums,
                                .forward = forward_sums,
                                .backward = backward_sums,
                                .n_out = 2,
                                .scratch = scratch_of_sums};

/* *ctx: which results are used. */
static peat_node *build_sums(struct graph *g, peat_node *const *in, void *ctx)
{
    int used = *(const int *)ctx;
    peat_node *y[2];
    op_custom_all(base(g), &sums_op, 1, in, NULL, 0, y);
    return used < 2 ? y[used] : op_mul(base(g), y[0], y[1]);
}

TEST(all_results_of_a_custom_operation_get_right_gradients)
{
    int used[] = {0, 1, 2};
    for (int i = 0; i < 3; i++) {
        const struct gradcase c[] = {
            {"sums", 1, {{2, {3, 5}}}, build_sums, &used[i]},
            {"sums of one", 1, {{2, {1, 1}}}, build_sums, &used[i]},
            {"sums large", 1, {{2, {67, 31}}}, build_sums, &used[i]},
        };
        check_table(c, COUNT(c));
    }
}

TEST(one_result_is_not_taken_for_all)
{
    struct arena arena;
    struct graph g;
    double x[] = {1, 2};
    arena_init(&arena, "test", 1 << 12);
    graph_init(&g, &arena, NULL, PEAT_F64);
    peat_node *a = graph_constant(&g, PEAT_F64, 2, DIMS(1, 2), x);
    ck_assert_ptr_null(op_custom(base(&g), &sums_op, 1, &a, NULL, 0));
    ck_assert_str_eq(g.err.text, "sums: it has 2 results, which peat_custom_all gives");
    arena_release(&arena);
}

TEST(custom_operations_get_right_gradients)
{
    enum fault fault = RIGHT;
    const struct gradcase c[] = {
        {"custom", 2, {{2, {3, 5}}, {2, {3, 5}}}, build_custom, &fault},
        {"custom one", 2, {{1, {1}}, {1, {1}}}, build_custom, &fault},
        {"custom views", 2, {{2, {5, 3}}, {2, {6, 5}}}, build_custom_views, &fault},
        {"custom fixed", 2, {{2, {3, 5}}, {2, {3, 5}, .fixed = true}}, build_custom, &fault},
        {"custom large", 2, {{2, {31, 67}}, {2, {31, 67}}}, build_custom, &fault},
    };
    check_table(c, COUNT(c));
}

LOOP_TEST(gradient_check_notices_every_planted_error, FAULTS)
{
    enum fault fault = (enum fault)_i;
    const struct gradcase c = {"planted", 2, {{2, {3, 5}}, {2, {3, 5}}}, build_custom, &fault};
    struct error err = {0};
    ck_assert_int_eq(gradcase_check(&c, &err), fault == RIGHT ? PEAT_OK : PEAT_FAILED);
}

/* --- sizes at which work is cut into tiles ------------------------------------------------- */

BUILD(build_large_bias, op_add(g, in[0], in[1]))
BUILD(build_large_gain, op_mul(g, in[0], in[1]))
BUILD(build_large_sum, op_sum(g, op_sum(g, in[0], 0), 2))
BUILD(build_large_copy, op_contiguous(g, op_permute(g, in[0], 4, AXES(0, 2, 1, 3))))
BUILD(build_large_linear, op_linear(g, in[0], in[1], in[2]))
BUILD(build_large_matmul, op_matmul(g, in[0], in[1], 0))
BUILD(build_large_gelu, op_gelu(g, in[0]))
BUILD(build_large_cumsum, op_cumsum(g, in[0], 1, false))

/* A row for each distance, clipped. */
static peat_node *build_large_taken(struct graph *g, peat_node *const *in, void *ctx)
{
    enum { T = 67, R = 40 };
    static int32_t index[T * T];
    (void)ctx;
    for (int i = 0; i < T * T; i++) {
        const int distance = i / T - i % T;
        index[i] = distance < 0 ? 0 : distance < R ? distance : R - 1;
    }
    return op_matmul_take(base(g), in[0], in[1], PEAT_TRANS_B,
                          graph_constant(g, PEAT_I32, 2, DIMS(T, T), index));
}

LOOP_TEST(large_results_have_the_same_bits_at_any_thread_count, 15)
{
    static const struct gradcase c[] = {
        {"bias", 2, {{3, {7, 61, 96}}, {1, {96}}}, build_large_bias},
        {"table", 2, {{3, {7, 61, 96}}, {3, {1, 61, 96}}}, build_large_bias},
        {"per head", 2, {{4, {4, 3, 67, 67}}, {3, {3, 1, 1}}}, build_large_gain},
        {"one gain", 2, {{1, {33021}}, {1, {1}}}, build_large_gain},
        {"rows", 2, {{3, {7, 61, 96}}, {3, {7, 61, 1}}}, build_large_gain},
        {"sum", 1, {{3, {7, 61, 96}}}, build_large_sum},
        {"copy", 1, {{4, {4, 61, 4, 32}}}, build_large_copy},
        {"linear", 3, {{3, {4, 131, 96}}, {2, {200, 96}}, {1, {200}}}, build_large_linear},
        {"wide", 3, {{2, {17, 96}}, {2, {1003, 96}}, {1, {1003}}}, build_large_linear},
        {"batch", 2, {{3, {11, 67, 65}}, {3, {11, 65, 70}}}, build_large_matmul},
        {"few", 2, {{3, {3, 130, 65}}, {3, {3, 65, 70}}}, build_large_matmul},
        {"shared", 2, {{2, {130, 65}}, {3, {9, 65, 70}}}, build_large_matmul},
        {"gelu", 1, {{2, {301, 131}, -4, 4}}, build_large_gelu},
        {"cumsum", 1, {{3, {5, 61, 300}}}, build_large_cumsum},
        {"taken", 2, {{4, {3, 5, 67, 16}}, {3, {5, 40, 16}}}, build_large_taken},
    };
    gradcase_threads(&c[_i]);
    gradcase_f32(&c[_i]);
    gradcase_shape(&c[_i]);
}

/* Partial sums and column blocks have to be right, not only repeatable. */
LOOP_TEST(large_gradients_match, 5)
{
    static const struct gradcase c[] = {
        {"bias", 2, {{2, {1501, 31}}, {1, {31}}}, build_large_gain},
        {"one gain", 2, {{1, {33021}}, {1, {1}}}, build_large_gain},
        {"sum", 1, {{3, {7, 61, 67}}}, build_large_sum},
        {"linear", 3, {{2, {131, 67}}, {2, {200, 67}}, {1, {200}}}, build_large_linear},
        {"wide", 3, {{2, {17, 67}}, {2, {307, 67}}, {1, {307}}}, build_large_linear},
    };
    gradcase_run(&c[_i]);
}

int main(void)
{
    return run_tests((struct tests){"ops", .seconds = 120});
}
