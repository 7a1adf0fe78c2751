/* SPDX-License-Identifier: MIT */
/* opkit.c: checks and views that many operations need. */
#include "opkit.h"

#include <inttypes.h>

#include "tensor/loop.h"
#include "tensor/reduce.h"

bool operand_types(peat_node *n, uint32_t index)
{
    for (int i = 0; i < n->n_src; i++) {
        bool want = i < 32 && (index >> i & 1) != 0;
        if (!n->src[i] || (n->src[i]->value.dtype == PEAT_I32) == want)
            continue;
        graph_fail(n->g, "operand %d must be %s, not %s", i + 1, want ? "I32" : "real",
                   dtype_name(n->src[i]->value.dtype));
        return false;
    }
    return true;
}

bool infer_same(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value;
    if (!operand_types(n, 0))
        return false;
    n->value = tensor_shape(n->g->dtype, a->rank, a->dim);
    return true;
}

int axis_of(struct graph *g, const char *name, const peat_node *a, int32_t axis)
{
    int rank = a->value.rank;
    if (axis >= -rank && axis < rank)
        return axis < 0 ? axis + rank : axis;
    char text[160];
    graph_fail(g, "%s: axis %d of shape %s does not exist", name, axis,
               tensor_shape_text(&a->value, text, sizeof(text)));
    return -1;
}

void add_reduced(struct graph *g, struct tensor *dst, const struct tensor *src)
{
    if (tensor_same_shape(dst, src))
        loop_axpy(g->team, dst, 1.0, src);
    else if (!reduce_add(g->team, g->arena, dst, src))
        graph_no_memory(g, "partial sums", tensor_bytes(dst));
}

struct tensor tensor_slice(const struct tensor *t, int axis, int64_t begin, int64_t end)
{
    struct tensor s = *t;
    s.dim[axis] = end - begin;
    if (s.data)
        s.data = (char *)s.data + begin * s.stride[axis] * (int64_t)dtype_bytes(s.dtype);
    return s;
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
