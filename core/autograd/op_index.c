/* SPDX-License-Identifier: MIT */
/* op_index.c: gather_rows and take_last. Indices are checked before anything is read. */
#include <inttypes.h>
#include <string.h>

#include "autograd/ops.h"
#include "levels/take_rows.h"
#include "opkit.h"
#include "tensor/loop.h"

enum { GATHER_COLUMNS = 32, GATHER_GRAIN = 16384 };

/* Fails the graph when an index is not in 0..limit-1. */
static bool indices_valid(peat_node *n, const struct tensor *index, int64_t limit)
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

/* --- gather_rows ------------------------------------------------------------------------- */

static bool infer_gather(peat_node *n)
{
    const struct tensor *table = &n->src[0]->value, *index = &n->src[1]->value;
    if (!operand_types(n, 2))
        return false;
    if (table->rank != 2 || index->rank == PEAT_MAX_RANK) {
        char text[160];
        graph_fail(n->g, "the table must be [rows, columns], not %s, and the index below rank %d",
                   tensor_shape_text(table, text, sizeof(text)), PEAT_MAX_RANK);
        return false;
    }
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, index->dim, sizeof(dim));
    dim[index->rank] = table->dim[1];
    n->value = tensor_shape(n->g->dtype, index->rank + 1, dim);
    return true;
}

static void gather_range(void *ctx, int64_t begin, int64_t end)
{
    const peat_node *n = ctx;
    const int32_t *index = n->src[1]->value.data;
    size_t row = (size_t)n->src[0]->value.dim[1] * dtype_bytes(n->value.dtype);
    for (int64_t i = begin; i < end; i++)
        memcpy((char *)n->value.data + (size_t)i * row,
               (const char *)n->src[0]->value.data + (size_t)index[i] * row, row);
}

/* y_i = table[index_i] */
static void forward_gather(peat_node *n)
{
    const struct tensor *table = &n->src[0]->value, *index = &n->src[1]->value;
    if (!indices_valid(n, index, table->dim[0]))
        return;
    int64_t columns = table->dim[1] < 1 ? 1 : table->dim[1];
    parallel_ranges(team_of(n), tensor_count(index), GATHER_GRAIN / columns + 1, gather_range, n);
}

#define SCATTER(name, real)                                                                        \
    static void name(real *table, const real *dy, const int32_t *index, int64_t count,             \
                     int64_t columns, int64_t begin, int64_t end)                                  \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            real *restrict to = table + index[i] * columns;                                        \
            const real *restrict from = dy + i * columns;                                          \
            for (int64_t j = begin; j < end; j++)                                                  \
                to[j] += from[j];                                                                  \
        }                                                                                          \
    }
SCATTER(scatter_f32, float)
SCATTER(scatter_f64, double)

static void scatter_columns(void *ctx, int64_t begin, int64_t end)
{
    const peat_node *n = ctx;
    const struct tensor *index = &n->src[1]->value, *table = &n->src[0]->grad;
    int64_t count = tensor_count(index), columns = table->dim[1];
    if (table->dtype == PEAT_F32)
        scatter_f32(table->data, n->grad.data, index->data, count, columns, begin, end);
    else
        scatter_f64(table->data, n->grad.data, index->data, count, columns, begin, end);
}

/* y_i = table[index_i]:  dtable[index_i] += dy_i, i in order; tiles are blocks of columns */
static void backward_gather(peat_node *n)
{
    struct tensor table = node_grad(n->src[0]);
    parallel_ranges(team_of(n), table.dim[1], GATHER_COLUMNS, scatter_columns, n);
}

peat_node *op_gather_rows(peat_graph *g, peat_node *table, peat_node *index)
{
    static const struct op op = {"gather_rows", infer_gather, forward_gather, backward_gather,
                                 .unread = UNREAD_FIRST | UNREAD_SELF};
    peat_node *src[] = {op_contiguous(g, table), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, NULL, 0);
}

/* --- take_last --------------------------------------------------------------------------- */

static bool infer_take(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *index = &n->src[1]->value;
    if (!operand_types(n, 2))
        return false;
    char ta[160], ti[160];
    tensor_shape_text(a, ta, sizeof(ta));
    tensor_shape_text(index, ti, sizeof(ti));
    if (a->rank < 1 || index->rank < 1) {
        graph_fail(n->g, "shapes %s and %s need a last axis", ta, ti);
        return false;
    }
    struct tensor la = *a, li = *index;
    la.dim[la.rank - 1] = li.dim[li.rank - 1] = 1;
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    if (!shape_broadcast(&la, &li, &rank, dim)) {
        graph_fail(n->g, "leading axes of %s and %s do not broadcast", ta, ti);
        return false;
    }
    dim[rank - 1] = index->dim[index->rank - 1];
    n->value = tensor_shape(n->g->dtype, rank, dim);
    return true;
}

/* Rows of the result with those of a and index, both broadcast over the leading axes. */
struct take {
    const peat_node *n;
    int64_t length, columns; /* n and m of ops.h                          */
    int64_t a_stride[PEAT_MAX_RANK], index_stride[PEAT_MAX_RANK];
    struct axes moves, repeats; /* leading axes along which a moves, repeats */
};

static struct take take_of(const peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *index = &n->src[1]->value;
    struct take t = {.n = n, .length = a->dim[a->rank - 1]};
    int lead = n->value.rank - 1;
    t.columns = n->value.dim[lead];
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, n->value.dim, sizeof(dim));
    dim[lead] = t.length;
    memcpy(t.a_stride, tensor_broadcast_to(a, lead + 1, dim).stride, sizeof(t.a_stride));
    dim[lead] = t.columns;
    memcpy(t.index_stride, tensor_broadcast_to(index, lead + 1, dim).stride,
           sizeof(t.index_stride));
    axes_split(lead, n->value.dim, t.a_stride, &t.moves, &t.repeats);
    return t;
}

/* All result rows that read one row of a: apart from the others, in order among themselves. */
static void take_tile(const struct take *t, int64_t tile, bool back)
{
    const peat_node *n = t->n;
    const int32_t *index = n->src[1]->value.data;
    const int64_t *y_stride = n->value.stride;
    int64_t a0 = axes_offset(&t->moves, tile, t->a_stride);
    int64_t y0 = axes_offset(&t->moves, tile, y_stride);
    int64_t i0 = axes_offset(&t->moves, tile, t->index_stride);
    const struct take_rows *rows = take_rows_of(n->value.dtype);
    int64_t bytes = (int64_t)dtype_bytes(n->value.dtype);
    for (int64_t r = 0; r < t->repeats.count; r++) {
        int64_t y = (y0 + axes_offset(&t->repeats, r, y_stride)) * bytes;
        const int32_t *at = index + i0 + axes_offset(&t->repeats, r, t->index_stride);
        if (back)
            rows->scatter((char *)n->src[0]->grad.data + a0 * bytes, (char *)n->grad.data + y, at,
                          t->columns);
        else
            rows->pick((char *)n->value.data + y, (char *)n->src[0]->value.data + a0 * bytes, at,
                       t->columns);
    }
}

static void forward_tile(void *ctx, int64_t tile)
{
    take_tile(ctx, tile, false);
}

static void backward_tile(void *ctx, int64_t tile)
{
    take_tile(ctx, tile, true);
}

/* y_j = a[index_j] in each row */
static void forward_take(peat_node *n)
{
    struct take t = take_of(n);
    if (indices_valid(n, &n->src[1]->value, t.length))
        parallel_for(team_of(n), t.moves.count, forward_tile, &t);
}

/* y_j = a[index_j]:  da[index_j] += dy_j, rows and j in order */
static void backward_take(peat_node *n)
{
    struct take t = take_of(n);
    node_grad(n->src[0]);
    parallel_for(team_of(n), t.moves.count, backward_tile, &t);
}

peat_node *op_take_last(peat_graph *g, peat_node *a, peat_node *index)
{
    static const struct op op = {"take_last", infer_take, forward_take, backward_take,
                                 .unread = UNREAD_FIRST | UNREAD_SELF};
    peat_node *src[] = {op_contiguous(g, a), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, NULL, 0);
}
