/* SPDX-License-Identifier: MIT */
/* op_unary.c: functions of one element. */
#include "autograd/ops.h"
#include "opkit.h"
#include "rows/unary_rows.h"

/* The argument of every node here. */
struct unary_arg {
    enum unary which;
    double p, q; /* of affine and clamp */
};

/* y = f(x) */
static void forward(peat_node *n)
{
    const struct unary_arg *u = n->arg;
    const struct unary_call call = {.p = u->p, .q = u->q};
    struct loop l;
    loop_init(&l, 2, (const struct tensor *const[]){&n->value, &n->src[0]->value});
    loop_run(team_of(n), &l, unary_rows_of(n->value.dtype)->of[u->which].forward, &call);
}

/* y = f(x):  dx += dy f'(x). Where x or y is not read, and may be gone, dy stands in its place. */
static void backward(peat_node *n)
{
    const struct unary_arg *u = n->arg;
    struct unary_call call = {.p = u->p, .q = u->q};
    struct tensor dx = node_grad_whole(n->src[0], &call.fresh);
    const struct tensor *x = n->op->unread & UNREAD_FIRST ? &n->grad : &n->src[0]->value;
    const struct tensor *y = n->op->unread & UNREAD_SELF ? &n->grad : &n->value;
    struct loop l;
    loop_init(&l, 4, (const struct tensor *const[]){&dx, &n->grad, x, y});
    loop_run(team_of(n), &l, unary_rows_of(n->value.dtype)->of[u->which].grad, &call);
}

#define DEFINE_UNARY(name, unread)                                                                 \
    peat_node *op_##name(peat_graph *g, peat_node *a)                                              \
    {                                                                                              \
        static const struct op op = {#name, infer_same,    forward, backward,                      \
                                     NULL,  GRAD_IN_PLACE, unread};                                \
        return graph_op(graph_of(g), &op, 1, &a, 0, &(struct unary_arg){.which = UNARY_##name},    \
                        sizeof(struct unary_arg));                                                 \
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
    static const struct op op = {"floor", infer_same, forward, .unread = UNREAD_ALL};
    const struct unary_arg arg = {.which = UNARY_floor};
    return graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}

peat_node *op_affine(peat_graph *g, peat_node *a, double scale, double shift)
{
    static const struct op op = {"affine", infer_same,    forward,   backward,
                                 NULL,     GRAD_IN_PLACE, UNREAD_ALL};
    const struct unary_arg arg = {UNARY_affine, scale, shift};
    return graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}

peat_node *op_clamp(peat_graph *g, peat_node *a, double lo, double hi)
{
    static const struct op op = {"clamp", infer_same,    forward,    backward,
                                 NULL,    GRAD_IN_PLACE, UNREAD_SELF};
    const struct unary_arg arg = {UNARY_clamp, lo, hi};
    if (!(lo <= hi))
        return graph_fail(graph_of(g), "clamp: the bounds %g and %g are not in order", lo, hi);
    return graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}
