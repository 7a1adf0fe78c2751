/* SPDX-License-Identifier: MIT */
/* op_shape.c: shapes; permute, reshape, slice (views); contiguous, concat, pad, expand (copies). */

#include "opkit.h"

/* --- shapes ------------------------------------------------------------------------------ */

struct tensor shape_with(const struct tensor *t, int axis, int64_t length)
{
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, t->dim, sizeof(dim));
    dim[axis] = length;
    return tensor_shape(t->dtype, t->rank, dim);
}

bool stretches_to(const struct tensor *t, int rank, const int64_t *dim)
{
    bool fits = t->rank <= rank;
    for (int i = 0; fits && i < t->rank; i++)
        fits = t->dim[i] == 1 || t->dim[i] == dim[rank - t->rank + i];
    return fits;
}

const char *shape_text(const peat_node *n, const struct tensor *t)
{
    enum { LENGTH = 160 };
    return tensor_shape_text(t, arena_alloc(n->g->arena, LENGTH), LENGTH);
}

int axis_of(struct graph *g, const char *name, const peat_node *a, int32_t axis)
{
    int rank = a->value.rank;
    if (axis >= -rank && axis < rank)
        return axis < 0 ? axis + rank : axis;
    graph_fail(g, "%s: axis %d of shape %s does not exist", name, axis, shape_text(a, &a->value));
    return -1;
}

/* Elements [begin, end) of one axis. */
static struct tensor tensor_slice(const struct tensor *t, int axis, int64_t begin, int64_t end)
{
    struct tensor s = *t;
    s.dim[axis] = end - begin;
    if (s.data)
        s.data = (char *)s.data + begin * s.stride[axis] * (int64_t)dtype_bytes(s.dtype);
    return s;
}

/* --- copies ------------------------------------------------------------------------------ */

static void infer_copy(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value;
    n->value = tensor_shape(a->dtype, a->rank, a->dim);
}

/* y = a, in row-major order */
static void forward_copy(peat_node *n)
{
    loop_copy(team_of(n), &n->value, &n->src[0]->value);
}

/* y = a:  da += dy */
static void backward_copy(peat_node *n)
{
    bool fresh;
    struct tensor da = node_grad_whole(n->src[0], &fresh);
    if (fresh)
        loop_copy(team_of(n), &da, &n->grad);
    else
        loop_axpy(team_of(n), &da, 1.0, &n->grad);
}

peat_node *op_copy(struct graph *g, peat_node *a)
{
    static const struct op op = {"contiguous",  infer_copy,           forward_copy,
                                 backward_copy, .unread = UNREAD_ALL, .index = ANY_TYPES};
    return graph_op(g, &op, 1, &a, 0, NULL, 0);
}

peat_node *op_contiguous(peat_graph *g, peat_node *a)
{
    return a && tensor_contiguous(&a->value) ? a : op_copy(graph_of(g), a);
}

/* --- expand ------------------------------------------------------------------------------ */

struct shape_arg {
    int rank;
    int64_t dim[PEAT_MAX_RANK];
};

static void infer_expand(peat_node *n)
{
    const struct shape_arg *to = n->arg;
    n->value = tensor_shape(n->src[0]->value.dtype, to->rank, to->dim);
}

/* y = a, repeated along stretched axes */
static void forward_expand(peat_node *n)
{
    struct tensor a = tensor_broadcast_to(&n->src[0]->value, n->value.rank, n->value.dim);
    loop_copy(team_of(n), &n->value, &a);
}

/* y = a repeated:  da += dy summed over the repetitions */
static void backward_expand(peat_node *n)
{
    struct tensor da = node_grad(n->src[0]);
    add_reduced(n->g, &da, &n->grad);
}

/* arg = dim after a check of its rank. */
static bool shape_arg(struct graph *g, const char *name, int32_t n, const int64_t *dim,
                      struct shape_arg *arg)
{
    *arg = (struct shape_arg){.rank = n};
    if (n < 0 || n > PEAT_MAX_RANK) {
        graph_fail(g, "%s: rank %d is not in 0..%d", name, n, PEAT_MAX_RANK);
        return false;
    }
    for (int i = 0; i < n; i++)
        arg->dim[i] = dim[i];
    return true;
}

peat_node *op_expand(peat_graph *pg, peat_node *a, int32_t n, const int64_t *dim)
{
    static const struct op op = {"expand",        infer_expand,         forward_expand,
                                 backward_expand, .unread = UNREAD_ALL, .index = ANY_TYPES};
    struct graph *g = graph_of(pg);
    struct shape_arg arg;
    if (!a || graph_failed(g))
        return graph_op(g, &op, 1, &a, 0, NULL, 0);
    if (!shape_arg(g, op.name, n, dim, &arg))
        return NULL;
    struct tensor to = tensor_shape(a->value.dtype, n, arg.dim);
    if (!stretches_to(&a->value, n, arg.dim))
        return graph_fail(g, "expand: shape %s does not stretch to %s", shape_text(a, &a->value),
                          shape_text(a, &to));
    struct tensor wide = tensor_broadcast_to(&a->value, n, arg.dim);
    if (tensor_count(&wide) == tensor_count(&a->value))
        return graph_view(g, a, n, wide.dim, wide.stride, 0);
    return graph_op(g, &op, 1, &a, 0, &arg, sizeof(arg));
}

/* --- concat ------------------------------------------------------------------------------ */

/* Length of t along the axis of a result of higher rank, where missing axes count as 1. */
static int64_t aligned_dim(const struct tensor *t, int rank, int axis)
{
    int own = axis - (rank - t->rank);
    return own < 0 ? 1 : t->dim[own];
}

static void infer_concat(peat_node *n)
{
    int32_t axis = *(const int32_t *)n->arg;
    int rank = 0;
    for (int i = 0; i < n->n_src; i++)
        rank = n->src[i]->value.rank > rank ? n->src[i]->value.rank : rank;
    if (axis < -rank || axis >= rank) {
        graph_fail(n->g, "axis %d of rank %d does not exist", axis, rank);
        return;
    }
    axis = axis < 0 ? axis + rank : axis;
    int64_t dim[PEAT_MAX_RANK];
    for (int k = 0; k < rank; k++) {
        dim[k] = k == axis ? 0 : 1;
        for (int i = 0; i < n->n_src; i++) {
            int64_t d = aligned_dim(&n->src[i]->value, rank, k);
            if (k != axis && d != dim[k] && d != 1 && dim[k] != 1)
                graph_fail(n->g, "operand %d has length %" PRId64 " on axis %d, others %" PRId64,
                           i + 1, d, k, dim[k]);
            if (n->src[i]->value.dtype != n->src[0]->value.dtype)
                graph_fail(n->g, "operand %d is %s, others %s", i + 1,
                           dtype_name(n->src[i]->value.dtype), dtype_name(n->src[0]->value.dtype));
            dim[k] = k == axis ? dim[k] + d : dim[k] == 1 ? d : dim[k];
        }
    }
    n->value = tensor_shape(n->src[0]->value.dtype, rank, dim);
}

/* The part of whole, shaped like the result, that operand i fills from `begin`. */
static struct tensor concat_part(const peat_node *n, const struct tensor *whole, int i,
                                 int64_t *begin)
{
    int axis = *(const int32_t *)n->arg;
    axis = axis < 0 ? axis + n->value.rank : axis;
    int64_t from = *begin;
    *begin += aligned_dim(&n->src[i]->value, n->value.rank, axis);
    return tensor_slice(whole, axis, from, *begin);
}

/* y = [a_1, a_2, ...] */
static void forward_concat(peat_node *n)
{
    int64_t begin = 0;
    for (int i = 0; i < n->n_src; i++) {
        struct tensor y = concat_part(n, &n->value, i, &begin);
        struct tensor a = tensor_broadcast_to(&n->src[i]->value, y.rank, y.dim);
        loop_copy(team_of(n), &y, &a);
    }
}

/* y = [a_1, a_2, ...]:  da_i += its part of dy, summed over repetitions */
static void backward_concat(peat_node *n)
{
    int64_t begin = 0;
    for (int i = 0; i < n->n_src; i++) {
        struct tensor dy = concat_part(n, &n->grad, i, &begin);
        if (!wants_grad(n, i))
            continue;
        struct tensor da = node_grad(n->src[i]);
        add_reduced(n->g, &da, &dy);
    }
}

peat_node *op_concat(peat_graph *g, int32_t n, peat_node *const *a, int32_t axis)
{
    static const struct op op = {"concat",        infer_concat,         forward_concat,
                                 backward_concat, .unread = UNREAD_ALL, .index = ANY_TYPES};
    if (n < 1)
        return graph_fail(graph_of(g), "concat: no operands");
    return graph_op(graph_of(g), &op, n, a, 0, &axis, sizeof(axis));
}

/* --- pad --------------------------------------------------------------------------------- */

struct pad_arg {
    int axis;
    int64_t before, after;
};

static void infer_pad(peat_node *n)
{
    const struct pad_arg *pad = n->arg;
    const struct tensor *a = &n->src[0]->value;
    int64_t length = a->dim[pad->axis];
    if (pad->before < 0 || pad->after < 0 || __builtin_add_overflow(length, pad->before, &length) ||
        __builtin_add_overflow(length, pad->after, &length))
        graph_fail(n->g, "cannot put %" PRId64 " before and %" PRId64 " after", pad->before,
                   pad->after);
    n->value = shape_with(a, pad->axis, length);
}

static struct tensor pad_middle(const peat_node *n, const struct tensor *whole)
{
    const struct pad_arg *pad = n->arg;
    int64_t length = n->src[0]->value.dim[pad->axis];
    return tensor_slice(whole, pad->axis, pad->before, pad->before + length);
}

/* y = [0, a, 0] */
static void forward_pad(peat_node *n)
{
    memset(n->value.data, 0, tensor_bytes(&n->value));
    struct tensor middle = pad_middle(n, &n->value);
    loop_copy(team_of(n), &middle, &n->src[0]->value);
}

/* y = [0, a, 0]:  da += the middle of dy */
static void backward_pad(peat_node *n)
{
    struct tensor da = node_grad(n->src[0]), middle = pad_middle(n, &n->grad);
    loop_axpy(team_of(n), &da, 1.0, &middle);
}

peat_node *op_pad(peat_graph *pg, peat_node *a, int32_t axis, int64_t before, int64_t after)
{
    static const struct op op = {
        "pad", infer_pad, forward_pad, backward_pad, .unread = UNREAD_ALL, .index = ANY_TYPES};
    struct graph *g = graph_of(pg);
    if (!a || graph_failed(g))
        return graph_op(g, &op, 1, &a, 0, NULL, 0);
    struct pad_arg arg = {axis_of(g, op.name, a, axis), before, after};
    return arg.axis < 0 ? NULL : graph_op(g, &op, 1, &a, 0, &arg, sizeof(arg));
}

/* --- views ------------------------------------------------------------------------------- */

/* True if a function has no operand to work on; makes sure that the graph has failed then. */
static bool absent(struct graph *g, const char *name, const peat_node *a)
{
    if (!a)
        graph_fail_missing(g, name, 1);
    return graph_failed(g);
}

peat_node *op_permute(peat_graph *pg, peat_node *a, int32_t n, const int32_t *axis)
{
    struct graph *g = graph_of(pg);
    if (absent(g, "permute", a))
        return NULL;
    if (n != a->value.rank)
        return graph_fail(g, "permute: %d axes given for rank %d", n, a->value.rank);
    int64_t dim[PEAT_MAX_RANK], stride[PEAT_MAX_RANK];
    uint32_t seen = 0;
    for (int i = 0; i < n; i++) {
        int from = axis_of(g, "permute", a, axis[i]);
        if (from < 0)
            return NULL;
        if ((seen >> from & 1) != 0)
            return graph_fail(g, "permute: axis %d is given twice", from);
        seen |= UINT32_C(1) << from;
        dim[i] = a->value.dim[from];
        stride[i] = a->value.stride[from];
    }
    return graph_view(g, a, n, dim, stride, 0);
}

peat_node *op_slice(peat_graph *pg, peat_node *a, int32_t axis, int64_t begin, int64_t end)
{
    struct graph *g = graph_of(pg);
    if (absent(g, "slice", a))
        return NULL;
    int k = axis_of(g, "slice", a, axis);
    if (k < 0)
        return NULL;
    if (begin < 0 || end < begin || end > a->value.dim[k])
        return graph_fail(
            g, "slice: [%" PRId64 ", %" PRId64 ") is not within axis %d of length %" PRId64, begin,
            end, k, a->value.dim[k]);
    struct tensor part = tensor_slice(&a->value, k, begin, end);
    return graph_view(g, a, part.rank, part.dim, part.stride, begin * a->value.stride[k]);
}

/* Strides of t under new dims of the same count; false when a copy is needed. Contiguous axes of t
 * are merged; every new axis must be inside one of the merged axes. */
static bool reshape_strides(const struct tensor *t, struct tensor *to)
{
    int axis = t->rank;
    int64_t room = 1, stride = 1;
    for (int i = to->rank - 1; i >= 0; i--) {
        while (room == 1 && to->dim[i] != 1) {
            if (--axis < 0)
                return false;
            room = t->dim[axis];
            stride = t->stride[axis];
            while (axis > 0 && (t->dim[axis - 1] == 1 || t->stride[axis - 1] == room * stride))
                room *= t->dim[--axis];
        }
        if (room % to->dim[i] != 0)
            return false;
        to->stride[i] = stride;
        stride *= to->dim[i];
        room /= to->dim[i];
    }
    return true;
}

/* Replaces the one -1 so that the shape has as many elements as a. */
static bool complete(struct graph *g, const peat_node *a, struct shape_arg *to)
{
    int64_t known = 1, count = tensor_count(&a->value);
    int open = -1;
    bool ok = true;
    for (int i = 0; i < to->rank && ok; i++) {
        if (to->dim[i] == -1 && open < 0)
            open = i;
        else
            ok = to->dim[i] >= 0 && !__builtin_mul_overflow(known, to->dim[i], &known);
    }
    if (ok && open >= 0) {
        ok = known > 0 && count % known == 0;
        to->dim[open] = ok ? count / known : -1;
    } else {
        ok = ok && known == count;
    }
    if (ok)
        return true;
    const struct tensor t = tensor_shape(a->value.dtype, to->rank, to->dim);
    graph_fail(g, "reshape: shape %s does not hold the elements of %s", shape_text(a, &t),
               shape_text(a, &a->value));
    return false;
}

peat_node *op_reshape(peat_graph *pg, peat_node *a, int32_t n, const int64_t *dim)
{
    struct graph *g = graph_of(pg);
    struct shape_arg to;
    if (absent(g, "reshape", a) || !shape_arg(g, "reshape", n, dim, &to) || !complete(g, a, &to))
        return NULL;
    struct tensor view = tensor_shape(a->value.dtype, to.rank, to.dim);
    if (!tensor_contiguous(&a->value) && !reshape_strides(&a->value, &view)) {
        a = op_copy(g, a);
        view = tensor_shape(view.dtype, to.rank, to.dim);
    }
    return a ? graph_view(g, a, to.rank, to.dim, view.stride, 0) : NULL;
}
