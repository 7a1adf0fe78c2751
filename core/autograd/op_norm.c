/* SPDX-License-Identifier: MIT */
/* op_norm.c: layernorm, rmsnorm and normalize: one formula with and without centre and gain. */
#include <math.h>
#include <string.h>

#include "autograd/ops.h"
#include "rows.h"
#include "rows/norm_rows.h"

struct norm_arg {
    double eps;
    bool centre; /* subtract the mean          */
    bool sum;    /* sum of squares, not mean   */
    int8_t gain; /* place among src, 0: absent */
    int8_t offset;
};

static bool norm_infer(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value;
    for (int i = 1; i < n->n_src; i++) {
        const struct tensor *w = &n->src[i]->value;
        if (w->dtype == x->dtype && row_length(w) == row_length(x) &&
            tensor_count(w) == row_length(x))
            continue;
        char have[160], want[160];
        graph_fail(n->g, "gain or offset of shape %s for an operand %s",
                   tensor_shape_text(w, have, sizeof(have)),
                   tensor_shape_text(x, want, sizeof(want)));
        return false;
    }
    n->value = tensor_shape(x->dtype, x->rank, x->dim);
    return true;
}

static const void *operand(const peat_node *n, int place)
{
    return place > 0 ? n->src[place]->value.data : NULL;
}

static struct norm norm_call(const peat_node *n)
{
    const struct norm_arg *arg = n->arg;
    int64_t length = row_length(&n->value);
    return (struct norm){.n = length,
                         .grain = row_grain(length),
                         .eps = arg->eps,
                         .divisor = arg->sum ? 1.0 : (double)length,
                         .centre = arg->centre,
                         .x = n->src[0]->value.data,
                         .w = operand(n, arg->gain),
                         .b = operand(n, arg->offset),
                         .stat = n->saved};
}

static void norm_forward(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value;
    int64_t rows = row_count(x);
    if (n->needs_grad) {
        n->saved = graph_scratch(n->g, 2 * (size_t)rows * dtype_bytes(x->dtype));
        if (!n->saved)
            return;
    }
    struct norm c = norm_call(n);
    c.y = n->value.data;
    parallel_ranges(n->g->team, rows, c.grain, norm_rows_of(x->dtype)->forward, &c);
}

/* Zeroed partial sums for an operand, one row per tile; NULL when it wants no gradient. */
static void *partial_sums(peat_node *n, int place, int64_t tiles)
{
    if (place == 0 || !n->src[place]->needs_grad)
        return NULL;
    size_t bytes = (size_t)(tiles * row_length(&n->value)) * dtype_bytes(n->value.dtype);
    void *p = graph_scratch(n->g, bytes);
    return p ? memset(p, 0, bytes) : NULL;
}

/* The tiles' sums in tile order. */
static void add_partial_sums(peat_node *n, int place, void *sums, int64_t tiles)
{
    if (!sums)
        return;
    int64_t length = row_length(&n->value);
    struct tensor total = node_grad(n->src[place]);
    struct tensor flat = tensor_shape(total.dtype, 1, &length);
    flat.data = total.data;
    for (int64_t tile = 0; tile < tiles; tile++) {
        struct tensor one = flat;
        one.data = (char *)sums + (size_t)(tile * length) * dtype_bytes(flat.dtype);
        tensor_add(&flat, &one);
    }
}

static void norm_backward(peat_node *n)
{
    const struct norm_arg *arg = n->arg;
    int64_t rows = row_count(&n->value);
    struct norm c = norm_call(n);
    if (c.n == 0 || rows == 0)
        return;
    const int64_t most_tiles = 64;
    int64_t least = (rows + most_tiles - 1) / most_tiles;
    c.grain = c.grain < least ? least : c.grain;
    int64_t tiles = (rows + c.grain - 1) / c.grain;
    if (n->src[0]->needs_grad)
        c.dx = node_grad_whole(n->src[0], &c.fresh).data;
    c.dy = n->grad.data;
    struct arena_mark mark = arena_mark(n->g->arena);
    c.dw = partial_sums(n, arg->gain, tiles);
    c.db = partial_sums(n, arg->offset, tiles);
    if (!graph_failed(n->g)) {
        parallel_ranges(n->g->team, rows, c.grain, norm_rows_of(n->value.dtype)->backward, &c);
        add_partial_sums(n, arg->gain, c.dw, tiles);
        add_partial_sums(n, arg->offset, c.db, tiles);
    }
    arena_rewind(n->g->arena, mark);
}

static const struct op layernorm_op = {"layernorm", norm_infer, norm_forward, norm_backward, NULL};
static const struct op rmsnorm_op = {"rmsnorm", norm_infer, norm_forward, norm_backward, NULL};
static const struct op normalize_op = {"normalize", norm_infer, norm_forward, norm_backward, NULL};

static peat_node *norm(peat_graph *g, const struct op *op, peat_node *a, peat_node *w, peat_node *b,
                       struct norm_arg arg)
{
    peat_node *src[3] = {op_contiguous(g, a)};
    int n = 1;
    if (w) {
        arg.gain = (int8_t)n;
        src[n++] = op_contiguous(g, w);
    }
    if (b) {
        arg.offset = (int8_t)n;
        src[n++] = op_contiguous(g, b);
    }
    return graph_op((struct graph *)g, op, n, src, 0, &arg, sizeof(arg));
}

peat_node *op_layernorm(peat_graph *g, peat_node *a, peat_node *w, peat_node *b, double eps)
{
    return norm(g, &layernorm_op, a, w, b, (struct norm_arg){.eps = eps, .centre = true});
}

peat_node *op_rmsnorm(peat_graph *g, peat_node *a, peat_node *w, double eps)
{
    return norm(g, &rmsnorm_op, a, w, NULL, (struct norm_arg){.eps = eps});
}

peat_node *op_normalize(peat_graph *g, peat_node *a, double eps)
{
    return norm(g, &normalize_op, a, NULL, NULL, (struct norm_arg){.eps = eps, .sum = true});
}
