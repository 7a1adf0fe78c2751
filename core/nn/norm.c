/* SPDX-License-Identifier: MIT */
/* norm.c: layer norm and RMS norm. */
#include "nn/norm.h"

#include "autograd/ops.h"

struct norm_weights norm_declare(struct weights *w, const char *name, int64_t n,
                                 const struct norm_options *o)
{
    const peat_init one = {.kind = PEAT_INIT_CONSTANT, .a = 1.0}, zero = {.kind = PEAT_INIT_ZERO};
    struct norm_weights norm = {.kind = o->kind, .eps = o->eps};
    norm.w = weights_add(w, arena_printf(w->arena, "%s.weight", name), 1, &n, one, 0);
    if (o->kind == NORM_LAYER && o->bias)
        norm.b = weights_add(w, arena_printf(w->arena, "%s.bias", name), 1, &n, zero, 0);
    return norm;
}

peat_node *norm_forward(struct graph *g, const struct norm_weights *n, peat_node *x)
{
    peat_node *w = weight_node(g, n->w);
    if (n->kind == NORM_RMS)
        return op_rmsnorm(&g->base, x, w, n->eps);
    return op_layernorm(&g->base, x, w, weight_node(g, n->b), n->eps);
}
