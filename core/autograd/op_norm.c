/* SPDX-License-Identifier: MIT */
/* op_norm.c: layernorm, rmsnorm and normalize, one formula with or without centre and gain. */
#include "opkit.h"
#include "rows/norm_rows.h"

enum { SRC_X, SRC_GAIN, SRC_OFFSET, N_SRC };

struct norm_arg {
    double eps;
    bool centre; /* whether to subtract the mean */
    bool sum;    /* whether to divide by the root of the sum of squares, not of their mean */
};

static void norm_infer(peat_node *n)
{
    const struct tensor *x = &n->src[SRC_X]->value;
    for (int i = SRC_GAIN; i < N_SRC; i++) {
        const struct tensor *w = n->src[i] ? &n->src[i]->value : NULL;
        if (w && (row_length(w) != row_length(x) || tensor_count(w) != row_length(x)))
            graph_fail(n->g, "gain or offset of shape %s for an operand %s", shape_text(n, w),
                       shape_text(n, x));
    }
    infer_same(n);
}

static const void *data_of(const peat_node *x)
{
    return x ? x->value.data : NULL;
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
                         .x = data_of(n->src[SRC_X]),
                         .w = data_of(n->src[SRC_GAIN]),
                         .b = data_of(n->src[SRC_OFFSET]),
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

static void norm_backward(peat_node *n)
{
    const int64_t rows = row_count(&n->value), most_tiles = 64;
    struct norm c = norm_call(n);
    if (c.n == 0 || rows == 0)
        return;
    int64_t least = (rows + most_tiles - 1) / most_tiles;
    c.grain = c.grain < least ? least : c.grain;
    int64_t tiles = (rows + c.grain - 1) / c.grain;
    if (wants_grad(n, SRC_X))
        c.dx = node_grad_whole(n->src[SRC_X], &c.fresh).data;
    c.dy = n->grad.data;
    struct arena_mark mark = arena_mark(n->g->arena);
    c.dw = sums_of_tiles(n, SRC_GAIN, tiles);
    c.db = sums_of_tiles(n, SRC_OFFSET, tiles);
    if (!graph_failed(n->g))
        parallel_ranges(n->g->team, rows, c.grain, norm_rows_of(n->value.dtype)->backward, &c);
    add_sums_of_tiles(n, SRC_GAIN, c.dw, tiles);
    add_sums_of_tiles(n, SRC_OFFSET, c.db, tiles);
    arena_rewind(n->g->arena, mark);
}

static const struct op layernorm_op = {"layernorm", norm_infer, norm_forward, norm_backward};
static const struct op rmsnorm_op = {"rmsnorm", norm_infer, norm_forward, norm_backward};
static const struct op normalize_op = {"normalize", norm_infer, norm_forward, norm_backward};

static peat_node *norm(peat_graph *g, const struct op *op, peat_node *a, peat_node *w, peat_node *b,
                       struct norm_arg arg)
{
    peat_node *src[N_SRC] = {op_contiguous(g, a), w ? op_contiguous(g, w) : NULL,
                             b ? op_contiguous(g, b) : NULL};
    return graph_op(graph_of(g), op, N_SRC, src, 1 << SRC_GAIN | 1 << SRC_OFFSET, &arg,
                    sizeof(arg));
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
