/* SPDX-License-Identifier: MIT */
/* op_unary.c: functions of one element. */
#include <math.h>

#include "autograd/ops.h"
#include "opkit.h"
#include "tensor/loop.h"
#include "tensor/vecmath.h"

enum { BUFFER = 256 };

#define TEMPLATE "op_unary.inc"
#include "tensor/both_reals.inc"

/* The argument of every node here: kernels by dtype, and two numbers for affine and clamp. */
struct unary {
    loop_fn forward[2], add[2], set[2]; /* the last two: dx += ..., dx = ... */
    double number[2];
};

static bool infer(peat_node *n)
{
    if (!operand_types(n, 0))
        return false;
    n->value = tensor_shape(n->g->dtype, n->src[0]->value.rank, n->src[0]->value.dim);
    return true;
}

/* y = f(x) */
static void forward(peat_node *n)
{
    const struct unary *u = n->arg;
    struct loop l;
    loop_init(&l, 2, (const struct tensor *const[]){&n->value, &n->src[0]->value});
    loop_run(team_of(n), &l, u->forward[n->value.dtype == PEAT_F64], u->number);
}

/* y = f(x):  dx += dy f'(x). Where x or y is not read, and may be gone, dy stands in its place. */
static void backward(peat_node *n)
{
    const struct unary *u = n->arg;
    bool fresh;
    struct tensor dx = node_grad_whole(n->src[0], &fresh);
    const struct tensor *x = n->op->unread & UNREAD_FIRST ? &n->grad : &n->src[0]->value;
    const struct tensor *y = n->op->unread & UNREAD_SELF ? &n->grad : &n->value;
    struct loop l;
    loop_init(&l, 4, (const struct tensor *const[]){&dx, &n->grad, x, y});
    loop_run(team_of(n), &l, (fresh ? u->set : u->add)[n->value.dtype == PEAT_F64], u->number);
}

#define KERNELS(name)                                                                              \
    .forward = {name##_row_f32, name##_row_f64}, .add = {name##_grad_f32, name##_grad_f64},        \
    .set = {name##_set_f32, name##_set_f64}

#define DEFINE_UNARY(name, unread)                                                                 \
    peat_node *op_##name(peat_graph *g, peat_node *a)                                              \
    {                                                                                              \
        static const struct op op = {                                                              \
            #name, infer, forward, backward, NULL, GRAD_IN_PLACE, unread};                         \
        static const struct unary u = {KERNELS(name)};                                             \
        return graph_op(graph_of(g), &op, 1, &a, 0, &u, sizeof(u));                                \
    }

DEFINE_UNARY(exp, UNREAD_FIRST)
DEFINE_UNARY(log, UNREAD_SELF)
DEFINE_UNARY(log1p, UNREAD_SELF)
DEFINE_UNARY(sqrt, UNREAD_FIRST)
DEFINE_UNARY(sin, UNREAD_SELF)
DEFINE_UNARY(cos, UNREAD_SELF)
DEFINE_UNARY(tanh, UNREAD_FIRST)
DEFINE_UNARY(sigmoid, UNREAD_FIRST)
DEFINE_UNARY(log_sigmoid, UNREAD_SELF)
DEFINE_UNARY(softplus, UNREAD_SELF)
DEFINE_UNARY(relu, UNREAD_SELF)
DEFINE_UNARY(gelu, UNREAD_SELF)
DEFINE_UNARY(gelu_tanh, UNREAD_SELF)
DEFINE_UNARY(abs, UNREAD_SELF)

peat_node *op_floor(peat_graph *g, peat_node *a)
{
    static const struct op op = {"floor", infer, forward, .unread = UNREAD_ALL};
    static const struct unary u = {.forward = {floor_row_f32, floor_row_f64}};
    return graph_op(graph_of(g), &op, 1, &a, 0, &u, sizeof(u));
}

peat_node *op_affine(peat_graph *g, peat_node *a, double scale, double shift)
{
    static const struct op op = {"affine", infer,         forward,   backward,
                                 NULL,     GRAD_IN_PLACE, UNREAD_ALL};
    struct unary u = {KERNELS(affine), .number = {scale, shift}};
    return graph_op(graph_of(g), &op, 1, &a, 0, &u, sizeof(u));
}

peat_node *op_clamp(peat_graph *g, peat_node *a, double lo, double hi)
{
    static const struct op op = {"clamp", infer,         forward,    backward,
                                 NULL,    GRAD_IN_PLACE, UNREAD_SELF};
    struct unary u = {KERNELS(clamp), .number = {lo, hi}};
    if (!(lo <= hi))
        return graph_fail(graph_of(g), "clamp: the bounds %g and %g are not in order", lo, hi);
    return graph_op(graph_of(g), &op, 1, &a, 0, &u, sizeof(u));
}
