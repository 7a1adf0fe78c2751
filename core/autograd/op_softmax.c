/* SPDX-License-Identifier: MIT */
/* op_softmax.c: softmax over the last axis, with an optional 0/1 mask. */
#include "opkit.h"
#include "rows/softmax_rows.h"

static void softmax_infer(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value;
    const struct tensor *mask = n->n_src == 2 ? &n->src[1]->value : NULL;
    if (x->rank < 1)
        graph_fail(n->g, "the operand has no axis");
    else if (mask && !stretches_to(mask, x->rank, x->dim))
        graph_fail(n->g, "the mask %s does not stretch to the operand %s", shape_text(n, mask),
                   shape_text(n, x));
    infer_same(n);
}

static void softmax_forward(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value;
    struct softmax s = {.n = row_length(x), .x = x->data, .y = n->value.data};
    s.lead = axes_all(x->rank - 1, x->dim);
    if (n->n_src == 2)
        s.mask = tensor_broadcast_to(&n->src[1]->value, x->rank, x->dim);
    parallel_ranges(n->g->team, row_count(x), row_grain(s.n), softmax_rows_of(x->dtype)->forward,
                    &s);
}

static void softmax_backward(peat_node *n)
{
    if (!n->src[0]->needs_grad)
        return;
    const struct tensor *y = &n->value;
    struct tensor dx = node_grad(n->src[0]);
    struct softmax s = {.n = row_length(y), .y = y->data, .dy = n->grad.data, .dx = dx.data};
    parallel_ranges(n->g->team, row_count(y), row_grain(s.n), softmax_rows_of(y->dtype)->backward,
                    &s);
}

static const struct op softmax_op = {"softmax", softmax_infer, softmax_forward, softmax_backward,
                                     .unread = UNREAD_FIRST};

peat_node *op_softmax(peat_graph *g, peat_node *a, peat_node *mask)
{
    peat_node *src[] = {op_contiguous(g, a), mask};
    return graph_op(graph_of(g), &softmax_op, mask ? 2 : 1, src, 0, NULL, 0);
}
