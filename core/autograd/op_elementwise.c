/* SPDX-License-Identifier: MIT */
/* op_elementwise.c: add, sub, mul, div, minimum, maximum, with broadcasting. */
#include "opkit.h"
#include "rows/elementwise_rows.h"

static enum binary kind_of(const peat_node *n)
{
    return *(const enum binary *)n->arg;
}

static void elementwise_infer(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *b = &n->src[1]->value;
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    if (shape_broadcast(a, b, &rank, dim))
        n->value = tensor_shape(n->g->dtype, rank, dim);
    else
        graph_fail(n->g, "shapes %s and %s do not broadcast", shape_text(n, a), shape_text(n, b));
}

static struct tensor widened(const peat_node *n, const struct tensor *t)
{
    return tensor_broadcast_to(t, n->value.rank, n->value.dim);
}

/* Operand i in backward; the gradient replaces a value that is not read and may be dropped. */
static struct tensor operand(const peat_node *n, int i)
{
    return n->op->unread == UNREAD_ALL ? n->grad : widened(n, &n->src[i]->value);
}

/* z = F(a, b) */
static void elementwise_forward(peat_node *n)
{
    struct tensor a = widened(n, &n->src[0]->value), b = widened(n, &n->src[1]->value);
    struct loop l;
    loop_init(&l, 3, (const struct tensor *const[]){&n->value, &a, &b});
    loop_run(team_of(n), &l, elementwise_rows_of(n->value.dtype)->of[kind_of(n)].forward, NULL);
}

/* c += dz F_a or dz F_b, where c has the shape of z. */
static void add_gradient(const peat_node *n, int which, const struct tensor *c, bool fresh)
{
    struct tensor a = operand(n, 0), b = operand(n, 1);
    struct loop l;
    loop_init(&l, 4, (const struct tensor *const[]){c, &n->grad, &a, &b});
    loop_run(team_of(n), &l, elementwise_rows_of(n->value.dtype)->of[kind_of(n)].grad[which],
             &fresh);
}

/* z = F(a, b):  da += dz F_a, db += dz F_b, summed over the axes along which each was stretched */
static void backward_to(peat_node *n, int which)
{
    struct graph *g = n->g;
    bool fresh;
    if (tensor_same_shape(&n->src[which]->value, &n->value)) {
        struct tensor to = node_grad_whole(n->src[which], &fresh);
        add_gradient(n, which, &to, fresh);
        return;
    }
    struct tensor to = node_grad(n->src[which]), c = n->grad;
    struct arena_mark mark = arena_mark(g->arena);
    if (kind_of(n) != ADD && !(kind_of(n) == SUB && which == 0)) {
        c = n->value;
        c.data = graph_scratch(g, tensor_bytes(&c));
        if (c.data)
            add_gradient(n, which, &c, true);
    }
    if (c.data)
        add_reduced(g, &to, &c);
    arena_rewind(g->arena, mark);
}

static void elementwise_backward(peat_node *n)
{
    for (int i = 0; i < 2; i++)
        if (wants_grad(n, i))
            backward_to(n, i);
}

#define DEFINE_BINARY(name, kind, unread)                                                          \
    peat_node *op_##name(peat_graph *g, peat_node *a, peat_node *b)                                \
    {                                                                                              \
        static const struct op op = {                                                              \
            #name, elementwise_infer, elementwise_forward, elementwise_backward, NULL, unread};    \
        const enum binary which = kind;                                                            \
        return graph_op(graph_of(g), &op, 2, (peat_node *const[]){a, b}, 0, &which,                \
                        sizeof(which));                                                            \
    }

DEFINE_BINARY(add, ADD, UNREAD_ALL)
DEFINE_BINARY(sub, SUB, UNREAD_ALL)
DEFINE_BINARY(mul, MUL, UNREAD_SELF)
DEFINE_BINARY(div, DIV, UNREAD_SELF)
DEFINE_BINARY(minimum, MINIMUM, UNREAD_SELF)
DEFINE_BINARY(maximum, MAXIMUM, UNREAD_SELF)
