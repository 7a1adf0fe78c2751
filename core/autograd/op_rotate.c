/* SPDX-License-Identifier: MIT */
/* op_rotate.c: rotation of the pairs of the last axis by given cosines and sines. */

#include "opkit.h"
#include "rows/rotate_rows.h"

enum { SRC_X, SRC_COS, SRC_SIN };

static void rotate_infer(peat_node *n)
{
    const struct tensor *x = &n->src[SRC_X]->value;
    int64_t half = row_length(x) / 2, dim[PEAT_MAX_RANK];
    int rank;
    if (x->rank < 1 || row_length(x) % 2 != 0) {
        graph_fail(n->g, "the last axis must be even");
        return;
    }
    /* x as pairs, then stretched to the cosine's and the sine's shape. */
    struct tensor pairs = *x;
    pairs.dim[x->rank - 1] = half;
    for (int i = SRC_COS; i <= SRC_SIN; i++) {
        const struct tensor *angle = &n->src[i]->value;
        if (!shape_broadcast(&pairs, angle, &rank, dim) || dim[rank - 1] != half) {
            graph_fail(n->g, "cosine or sine of shape %s for an operand %s", shape_text(n, angle),
                       shape_text(n, x));
            return;
        }
        pairs = tensor_shape(x->dtype, rank, dim);
    }
    n->value = shape_with(&pairs, pairs.rank - 1, 2 * half);
}

/* t [.., C], stretched over the leading axes of out, as its first components [.., C/2]. */
static struct tensor first_components(const struct tensor *t, const struct tensor *out,
                                      peat_layout layout, int64_t *second)
{
    struct tensor x = tensor_broadcast_to(t, out->rank, out->dim);
    int last = out->rank - 1;
    int64_t step = x.stride[last];
    x.dim[last] /= 2;
    *second = layout == PEAT_INTERLEAVED ? step : x.dim[last] * step;
    x.stride[last] = layout == PEAT_INTERLEAVED ? 2 * step : step;
    return x;
}

static struct tensor angles(const struct tensor *t, const struct tensor *out)
{
    const struct tensor half = shape_with(out, out->rank - 1, row_length(out) / 2);
    return tensor_broadcast_to(t, half.rank, half.dim);
}

static peat_layout layout_of(const peat_node *n)
{
    return *(const peat_layout *)n->arg;
}

/* y = rotate(x), or y += rotate by the opposite angle. */
static void rotate_into(const peat_node *n, const struct tensor *y, const struct tensor *x,
                        bool backward)
{
    const struct tensor *out = &n->value;
    struct rotate c;
    struct tensor to = first_components(y, out, layout_of(n), &c.second[0]);
    struct tensor from = first_components(x, out, layout_of(n), &c.second[1]);
    struct tensor cosine = angles(&n->src[SRC_COS]->value, out);
    struct tensor sine = angles(&n->src[SRC_SIN]->value, out);
    struct loop l;
    loop_init(&l, 4, (const struct tensor *const[]){&to, &from, &cosine, &sine});
    const struct rotate_rows *rows = rotate_rows_of(out->dtype);
    loop_run(n->g->team, &l, backward ? rows->unrotate : rows->rotate, &c);
}

/* d [.., C/2] += gradient of the cosine or the sine, before any sum over stretched axes. */
static void angle_grad_into(const peat_node *n, const struct tensor *d, int which)
{
    const struct tensor *out = &n->value;
    struct rotate c;
    struct tensor dy = first_components(&n->grad, out, layout_of(n), &c.second[1]);
    struct tensor x = first_components(&n->src[SRC_X]->value, out, layout_of(n), &c.second[2]);
    struct loop l;
    loop_init(&l, 3, (const struct tensor *const[]){d, &dy, &x});
    const struct rotate_rows *rows = rotate_rows_of(out->dtype);
    loop_run(n->g->team, &l, which == SRC_COS ? rows->cosine_grad : rows->sine_grad, &c);
}

static void rotate_forward(peat_node *n)
{
    rotate_into(n, &n->value, &n->src[SRC_X]->value, false);
}

static void grad_into(const peat_node *n, const struct tensor *d, int which)
{
    if (which == SRC_X)
        rotate_into(n, d, &n->grad, true);
    else
        angle_grad_into(n, d, which);
}

/* The gradient of a stretched operand is computed in full shape and summed in fixed order. */
static void rotate_backward_one(peat_node *n, int which)
{
    struct graph *g = n->g;
    struct tensor grad = node_grad(n->src[which]);
    struct tensor whole = n->value;
    if (which != SRC_X)
        whole.dim[whole.rank - 1] /= 2;
    if (tensor_same_shape(&grad, &whole)) {
        grad_into(n, &grad, which);
        return;
    }
    struct arena_mark mark = arena_mark(g->arena);
    whole = tensor_shape(whole.dtype, whole.rank, whole.dim);
    whole.data = graph_scratch(g, tensor_bytes(&whole));
    if (whole.data) {
        memset(whole.data, 0, tensor_bytes(&whole));
        grad_into(n, &whole, which);
        add_reduced(g, &grad, &whole);
    }
    arena_rewind(g->arena, mark);
}

static void rotate_backward(peat_node *n)
{
    for (int i = SRC_X; i <= SRC_SIN; i++)
        if (n->src[i]->needs_grad)
            rotate_backward_one(n, i);
}

static const struct op rotate_op = {"rotate", rotate_infer, rotate_forward, rotate_backward};

peat_node *op_rotate(peat_graph *g, peat_node *a, peat_node *cosine, peat_node *sine,
                     peat_layout layout)
{
    peat_node *src[] = {a, cosine, sine};
    return graph_op(graph_of(g), &rotate_op, 3, src, 0, &layout, sizeof(layout));
}
