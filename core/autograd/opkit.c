/* SPDX-License-Identifier: MIT */
/* opkit.c: checks and sums that many operations need. */
#include "opkit.h"

void infer_same(peat_node *n)
{
    n->value = tensor_shape(n->g->dtype, n->src[0]->value.rank, n->src[0]->value.dim);
}

void *sums_of_tiles(peat_node *n, int i, int64_t tiles)
{
    if (!wants_grad(n, i))
        return NULL;
    size_t bytes = (size_t)tiles * tensor_bytes(&n->src[i]->value);
    void *sums = graph_scratch(n->g, bytes);
    return sums ? memset(sums, 0, bytes) : NULL;
}

void add_sums_of_tiles(peat_node *n, int i, void *sums, int64_t tiles)
{
    if (!sums || graph_failed(n->g))
        return;
    struct tensor total = node_grad(n->src[i]);
    struct tensor one = tensor_shape(total.dtype, total.rank, total.dim);
    for (int64_t tile = 0; tile < tiles; tile++) {
        one.data = (char *)sums + (size_t)tile * tensor_bytes(&one);
        tensor_add(&total, &one);
    }
}

void add_reduced(struct graph *g, struct tensor *dst, const struct tensor *src)
{
    if (tensor_same_shape(dst, src))
        loop_axpy(g->team, dst, 1.0, src);
    else if (!reduce_add(g->team, g->arena, dst, src))
        graph_no_memory(g, "partial sums", tensor_bytes(dst));
}

bool indices_valid(peat_node *n, const struct tensor *index, int64_t limit)
{
    const int32_t *at = index->data;
    int64_t count = tensor_count(index);
    for (int64_t i = 0; i < count; i++)
        if (at[i] < 0 || at[i] >= limit) {
            graph_fail(n->g, "%s: index %d is not in 0..%" PRId64, n->op->name, at[i], limit - 1);
            return false;
        }
    return true;
}
