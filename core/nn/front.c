/* SPDX-License-Identifier: MIT */
/* front.c: cutting the front off, and putting it back. */
#include "nn/front.h"

#include "autograd/ops.h"

peat_node *front_cut(struct pass *pass, peat_node *x, int32_t axis)
{
    if (!x || pass->span.front == 0)
        return x;
    peat_graph *g = &pass->g->base;
    return op_slice(g, x, axis, pass->span.front, peat_shape_of(g, x).dim[axis]);
}

peat_node *front_join(struct pass *pass, peat_node *whole, peat_node *rest, int32_t axis)
{
    if (!whole || !rest || pass->span.front == 0)
        return rest;
    peat_graph *g = &pass->g->base;
    peat_node *front = op_slice(g, whole, axis, 0, pass->span.front);
    return op_concat(g, 2, (peat_node *[]){front, rest}, axis);
}

peat_node *front_cut_pairs(struct pass *pass, peat_node *x)
{
    return front_cut(pass, front_cut(pass, x, 2), 3);
}

peat_node *front_join_pairs(struct pass *pass, peat_node *whole, peat_node *rest)
{
    return front_join(pass, whole, front_join(pass, front_cut(pass, whole, 2), rest, 3), 2);
}

peat_node *front_pad_pairs(struct pass *pass, peat_node *term)
{
    if (!term || pass->span.front == 0)
        return term;
    peat_graph *g = &pass->g->base;
    peat_shape s = peat_shape_of(g, term);
    int64_t T = pass->span.rows.T;
    term = op_expand(g, term, 4, (int64_t[]){s.dim[0], s.dim[1], T, T});
    term = op_pad(g, term, 2, pass->span.front, 0);
    return op_pad(g, term, 3, pass->span.front, 0);
}
