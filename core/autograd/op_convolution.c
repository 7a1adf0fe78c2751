/* SPDX-License-Identifier: MIT */
/*
 * op_convolution.c: a convolution over the places of each row, every channel by its own taps.
 *
 * Each row sums the gradient of the taps over its places; the rows' sums are added in their order.
 */

#include "opkit.h"
#include "rows/convolution_rows.h"

static void convolution_infer(peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *w = &n->src[1]->value;
    const struct attention_mask *m = n->arg;
    if (x->rank != 3 || w->rank != 2 || w->dim[1] != x->dim[2] || w->dim[0] < 1)
        graph_fail(n->g, "input %s and taps %s do not fit", shape_text(n, x), shape_text(n, w));
    else if (!m->causal && w->dim[0] % 2 == 0)
        graph_fail(n->g,
                   "%lld taps do not have a middle: without a causal mask their number must be odd",
                   (long long)w->dim[0]);
    else
        infer_same(n);
}

static struct convolution convolution_of(const peat_node *n)
{
    const struct tensor *x = &n->src[0]->value, *w = &n->src[1]->value;
    struct convolution c = {.mask = *(const struct attention_mask *)n->arg,
                            .B = x->dim[0],
                            .T = x->dim[1],
                            .D = x->dim[2],
                            .K = w->dim[0],
                            .blocks = (x->dim[2] + COLUMNS - 1) / COLUMNS,
                            .x = x->data,
                            .w = w->data,
                            .y = n->value.data};
    c.ahead = c.mask.causal ? 0 : (c.K - 1) / 2;
    return c;
}

static void convolution_forward(peat_node *n)
{
    struct convolution c = convolution_of(n);
    parallel_for(team_of(n), c.B * c.blocks, convolution_rows_of(n->value.dtype)->convolve, &c);
}

static void convolution_backward(peat_node *n)
{
    struct convolution c = convolution_of(n);
    const struct convolution_rows *rows = convolution_rows_of(n->value.dtype);
    struct arena_mark mark = arena_mark(n->g->arena);
    c.dy = n->grad.data;
    if (wants_grad(n, 0)) {
        c.dx = node_grad(n->src[0]).data;
        parallel_for(team_of(n), c.B * c.blocks, rows->spread, &c);
    }
    c.dw = sums_of_tiles(n, 1, c.B);
    if (c.dw)
        parallel_for(team_of(n), c.B * c.blocks, rows->taps, &c);
    add_sums_of_tiles(n, 1, c.dw, c.B);
    arena_rewind(n->g->arena, mark);
}

static int64_t convolution_flops(const peat_node *n)
{
    return 2 * tensor_count(&n->value) * n->src[1]->value.dim[0];
}

peat_node *op_convolution(peat_graph *g, peat_node *x, peat_node *taps,
                          const struct attention_mask *mask)
{
    static const struct op op = {"convolution", convolution_infer, convolution_forward,
                                 convolution_backward, convolution_flops};
    peat_node *src[] = {x ? op_contiguous(g, x) : NULL, taps ? op_contiguous(g, taps) : NULL};
    return graph_op(graph_of(g), &op, 2, src, 0, mask, sizeof(*mask));
}
