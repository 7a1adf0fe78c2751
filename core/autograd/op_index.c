/* SPDX-License-Identifier: MIT */
/* op_index.c: gather_rows and take_last. Indices are checked before anything is read. */
#include <string.h>

#include "autograd/ops.h"
#include "opkit.h"
#include "rows/take_rows.h"
#include "take.h"
#include "tensor/loop.h"

enum { GATHER_COLUMNS = 32, GATHER_GRAIN = 16384 };

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

static void scatter_columns(void *ctx, int64_t begin, int64_t end)
{
    const peat_node *n = ctx;
    const struct tensor *index = &n->src[1]->value, *table = &n->src[0]->grad;
    take_rows_of(table->dtype)
        ->scatter_rows(table->data, n->grad.data, index->data, tensor_count(index), table->dim[1],
                       begin, end);
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
    char *a;                 /* the operand's value, or its gradient          */
    bool fresh;              /* nothing was written into the gradient         */
    int64_t length, columns; /* n and m of ops.h                              */
    int64_t a_stride[PEAT_MAX_RANK], index_stride[PEAT_MAX_RANK];
    struct axes moves, repeats; /* leading axes along which a moves, repeats  */
    int64_t rows, blocks;       /* of the last axis of moves, its blocks      */
    int along;                  /* which axis that is                         */
};

/* Rows of a tile: addresses are found for the first. */
enum { TAKE_ROWS = 32 };

static struct take take_of(const peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *index = &n->src[1]->value;
    struct take t = {.n = n, .a = a->data, .length = a->dim[a->rank - 1], .rows = 1};
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
    if (t.moves.count > 0 && t.moves.rank > 0) {
        t.rows = t.moves.dim[t.moves.rank - 1];
        t.along = t.moves.place[t.moves.rank - 1];
    }
    t.blocks = (t.rows + TAKE_ROWS - 1) / TAKE_ROWS;
    return t;
}

/* Up to TAKE_ROWS rows of a, with the first result rows that read each. */
static struct take_block take_tile(const struct take *t, const struct tensor *y, int64_t tile)
{
    const int64_t bytes = (int64_t)dtype_bytes(y->dtype), from = tile % t->blocks * TAKE_ROWS;
    const int64_t first = tile / t->blocks * t->rows + from;
    const bool steps = t->moves.rank > 0;
    return (struct take_block){
        .rows = t->rows - from < TAKE_ROWS ? t->rows - from : TAKE_ROWS,
        .a = t->a + axes_offset(&t->moves, first, t->a_stride) * bytes,
        .y = (char *)y->data + axes_offset(&t->moves, first, y->stride) * bytes,
        .index = (const int32_t *)t->n->src[1]->value.data +
                 axes_offset(&t->moves, first, t->index_stride),
        .a_step = steps ? t->a_stride[t->along] * bytes : 0,
        .y_step = steps ? y->stride[t->along] * bytes : 0,
        .index_step = steps ? t->index_stride[t->along] : 0,
    };
}

/* Result row number `again` of those of a row. */
static struct take_block take_repeat(const struct take *t, const struct tensor *y,
                                     struct take_block tile, int64_t again)
{
    tile.y += axes_offset(&t->repeats, again, y->stride) * (int64_t)dtype_bytes(y->dtype);
    tile.index += axes_offset(&t->repeats, again, t->index_stride);
    return tile;
}

static void forward_tile(void *ctx, int64_t number)
{
    const struct take *t = ctx;
    const struct tensor *y = &t->n->value;
    const struct take_block tile = take_tile(t, y, number);
    for (int64_t again = 0; again < t->repeats.count; again++) {
        const struct take_block x = take_repeat(t, y, tile, again);
        take_pick(y->dtype, &x, t->length, t->columns);
    }
}

/* In order among the result rows of one row of a. */
static void backward_tile(void *ctx, int64_t number)
{
    const struct take *t = ctx;
    const struct tensor *dy = &t->n->grad;
    const struct take_block tile = take_tile(t, dy, number);
    for (int64_t r = 0; t->fresh && r < tile.rows; r++)
        memset(tile.a + r * tile.a_step, 0, (size_t)t->length * dtype_bytes(dy->dtype));
    for (int64_t again = 0; again < t->repeats.count; again++) {
        const struct take_block x = take_repeat(t, dy, tile, again);
        take_scatter(dy->dtype, &x, t->columns);
    }
}

/* y_j = a[index_j] in each row */
static void forward_take(peat_node *n)
{
    struct take t = take_of(n);
    if (indices_valid(n, &n->src[1]->value, t.length))
        parallel_for(team_of(n), t.moves.count / t.rows * t.blocks, forward_tile, &t);
}

/* y_j = a[index_j]:  da[index_j] += dy_j, rows and j in order */
static void backward_take(peat_node *n)
{
    struct take t = take_of(n);
    t.a = node_grad_whole(n->src[0], &t.fresh).data;
    parallel_for(team_of(n), t.moves.count / t.rows * t.blocks, backward_tile, &t);
}

peat_node *op_take_last(peat_graph *g, peat_node *a, peat_node *index)
{
    static const struct op op = {"take_last", infer_take, forward_take, backward_take,
                                 .unread = UNREAD_FIRST | UNREAD_SELF};
    peat_node *src[] = {op_contiguous(g, a), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, NULL, 0);
}
