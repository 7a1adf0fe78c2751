/* SPDX-License-Identifier: MIT */
/* op_reduce.c: sum and mean over one axis. */

#include "opkit.h"

struct reduce_arg {
    int axis;
    bool mean;
};

static double scale_of(const peat_node *n)
{
    const struct reduce_arg *arg = n->arg;
    return arg->mean ? 1.0 / (double)n->src[0]->value.dim[arg->axis] : 1.0;
}

static void reduce_infer(peat_node *n)
{
    const struct reduce_arg *arg = n->arg;
    const struct tensor *a = &n->src[0]->value;
    if (arg->mean && a->dim[arg->axis] == 0)
        graph_fail(n->g, "axis %d has no elements", arg->axis);
    n->value = shape_with(a, arg->axis, 1);
}

/* y = scale * sum over the axis of a */
static void reduce_forward(peat_node *n)
{
    const struct reduce_arg *arg = n->arg;
    memset(n->value.data, 0, tensor_bytes(&n->value));
    add_reduced(n->g, &n->value, &n->src[0]->value);
    /* The sum is divided once, instead of every term. */
    if (!arg->mean)
        return;
    int64_t count = tensor_count(&n->value), length = n->src[0]->value.dim[arg->axis];
    for (int64_t i = 0; i < count; i++) {
        if (n->value.dtype == PEAT_F32)
            ((float *)n->value.data)[i] /= (float)length;
        else
            ((double *)n->value.data)[i] /= (double)length;
    }
}

/* y = scale * sum a:  da += scale * dy along the whole axis */
static void reduce_backward(peat_node *n)
{
    if (!wants_grad(n, 0))
        return;
    struct tensor da = node_grad(n->src[0]);
    struct tensor dy = tensor_broadcast_to(&n->grad, da.rank, da.dim);
    loop_axpy(team_of(n), &da, scale_of(n), &dy);
}

static peat_node *reduce(struct graph *g, peat_node *a, int32_t axis, bool mean)
{
    static const struct op sum_op = {"sum", reduce_infer, reduce_forward, reduce_backward,
                                     .unread = UNREAD_ALL};
    static const struct op mean_op = {"mean", reduce_infer, reduce_forward, reduce_backward,
                                      .unread = UNREAD_ALL};
    const struct op *op = mean ? &mean_op : &sum_op;
    if (!a)
        return graph_op(g, op, 1, &a, 0, NULL, 0);
    struct reduce_arg arg = {axis_of(g, op->name, a, axis), mean};
    return arg.axis < 0 ? NULL : graph_op(g, op, 1, &a, 0, &arg, sizeof(arg));
}

peat_node *op_sum(peat_graph *g, peat_node *a, int32_t axis)
{
    return reduce(graph_of(g), a, axis, false);
}

peat_node *op_mean(peat_graph *g, peat_node *a, int32_t axis)
{
    return reduce(graph_of(g), a, axis, true);
}
