/* SPDX-License-Identifier: MIT */
/* opkit.h: helpers of the files op_*.c. */
#pragma once

#include "autograd/ops.h"
#include "tensor/loop.h"

/* The engine's graph of an SDK handle. */
static inline struct graph *graph_of(peat_graph *g)
{
    return (struct graph *)g;
}
static inline const struct team *team_of(const peat_node *n)
{
    return n->g->team;
}
static inline bool wants_grad(const peat_node *n, int i)
{
    return n->src[i] && n->src[i]->needs_grad;
}
/* The shapes and tiles of operations over the last axis. */
static inline int64_t row_length(const struct tensor *t)
{
    return t->rank > 0 ? t->dim[t->rank - 1] : 1;
}

static inline int64_t row_count(const struct tensor *t)
{
    int64_t n = row_length(t);
    return n > 0 ? tensor_count(t) / n : 0;
}

/* Rows of a tile: enough elements to be worth a thread's start. Depends only on the shape. */
static inline int64_t row_grain(int64_t length)
{
    const int64_t elements = 8192;
    return length >= elements ? 1 : elements / (length > 0 ? length : 1);
}
/* infer of an operation whose result has the shape of the first operand. */
void infer_same(peat_node *n);
/* The shape of t with another length of one axis, contiguous. */
struct tensor shape_with(const struct tensor *t, int axis, int64_t length);
/* Whether t broadcasts to exactly this shape. */
bool stretches_to(const struct tensor *t, int rank, const int64_t *dim);
/* The shape of a tensor as text for a failure; it lives as long as the graph of n. */
const char *shape_text(const peat_node *n, const struct tensor *t);
/* The axis counted from the front; -1 and a failure "NAME: axis ..." when a has no such axis. */
int axis_of(struct graph *g, const char *name, const peat_node *a, int32_t axis);
/* The table that plugins call: ops_table.c */
extern const peat_ops ops_table;
/* Fails the graph when an index is not in 0..limit-1. */
bool indices_valid(peat_node *n, const struct tensor *index, int64_t limit);
/* Memory [tiles, elements] for sums of the gradient of operand i, zeroed; NULL: the operand needs
 * no gradient, or the graph failed because memory ran out. */
void *sums_of_tiles(peat_node *n, int i, int64_t tiles);
/* Adds the sums to the gradient in the order of tiles; sums may be NULL. */
void add_sums_of_tiles(peat_node *n, int i, void *sums, int64_t tiles);
/* dst += src summed over the axes that dst lacks; fails the graph when memory runs out. */
void add_reduced(struct graph *g, struct tensor *dst, const struct tensor *src);
/* A copy of a, contiguous and aligned, even if a is. */
peat_node *op_copy(struct graph *g, peat_node *a);
