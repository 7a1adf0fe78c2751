/* SPDX-License-Identifier: MIT */
/* op_index.c: gather_rows, take_last and scatter_last. Indices are checked before anything is read.
 */

#include "opkit.h"
#include "rows/take_rows.h"
#include "take.h"

enum { GATHER_COLUMNS = 32, GATHER_GRAIN = 16384 };

/* --- gather_rows ------------------------------------------------------------------------- */

static void infer_gather(peat_node *n)
{
    const struct tensor *table = &n->src[0]->value, *index = &n->src[1]->value;
    if (table->rank != 2 || index->rank == PEAT_MAX_RANK) {
        graph_fail(n->g, "the table must be [rows, columns], not %s, and the index below rank %d",
                   shape_text(n, table), PEAT_MAX_RANK);
        return;
    }
    int64_t dim[PEAT_MAX_RANK];
    memcpy(dim, index->dim, sizeof(dim));
    dim[index->rank] = table->dim[1];
    n->value = tensor_shape(n->g->dtype, index->rank + 1, dim);
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
    int64_t columns = at_least(table->dim[1], 1);
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
    static const struct op op = {"gather_rows",
                                 infer_gather,
                                 forward_gather,
                                 backward_gather,
                                 .unread = UNREAD_FIRST | UNREAD_SELF,
                                 .index = 2};
    peat_node *src[] = {op_contiguous(g, table), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, NULL, 0);
}

/* --- take_last --------------------------------------------------------------------------- */

static void infer_take(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *index = &n->src[1]->value;
    struct tensor all = *a;
    int rank;
    int64_t dim[PEAT_MAX_RANK];
    if (a->rank < 1 || index->rank < 1) {
        graph_fail(n->g, "shapes %s and %s need a last axis", shape_text(n, a),
                   shape_text(n, index));
        return;
    }
    all.dim[a->rank - 1] = row_length(index);
    if (shape_broadcast(&all, index, &rank, dim))
        n->value = tensor_shape(n->g->dtype, rank, dim);
    else
        graph_fail(n->g, "leading axes of %s and %s do not broadcast", shape_text(n, a),
                   shape_text(n, index));
}

/* A tile of rows of y, each with the row of a that its elements are read from or added to. */
struct take {
    const peat_node *n;
    struct tensor a, y; /* [..., length] and [..., columns]: values, or gradients        */
    bool fresh;         /* the written one of a and y is not cleared yet                 */
    int64_t length, columns;
    int64_t a_stride[PEAT_MAX_RANK], index_stride[PEAT_MAX_RANK];
    struct axes moves, repeats; /* leading axes along which a moves, and along which it repeats */
    int64_t rows, blocks;       /* the last axis of `moves`: its blocks       */
    int along;                  /* the index of that axis                     */
};

/* Rows of a tile: addresses are computed for the first row only. */
enum { TAKE_ROWS = 32 };

/* Up to TAKE_ROWS rows of a, with the first of the rows of y that belong to each. */
static struct take_block take_tile(const struct take *t, int64_t tile)
{
    const int64_t bytes = (int64_t)dtype_bytes(t->y.dtype), from = tile % t->blocks * TAKE_ROWS;
    const int64_t first = tile / t->blocks * t->rows + from;
    const bool steps = t->moves.rank > 0;
    return (struct take_block){
        .rows = t->rows - from < TAKE_ROWS ? t->rows - from : TAKE_ROWS,
        .a = (char *)t->a.data + axes_offset(&t->moves, first, t->a_stride) * bytes,
        .y = (char *)t->y.data + axes_offset(&t->moves, first, t->y.stride) * bytes,
        .index = (const int32_t *)t->n->src[1]->value.data +
                 axes_offset(&t->moves, first, t->index_stride),
        .a_step = steps ? t->a_stride[t->along] * bytes : 0,
        .y_step = steps ? t->y.stride[t->along] * bytes : 0,
        .index_step = steps ? t->index_stride[t->along] : 0,
    };
}

/* The address of row number `again` among the rows of y that belong to a row of a. */
static struct take_block take_repeat(const struct take *t, struct take_block tile, int64_t again)
{
    tile.y += axes_offset(&t->repeats, again, t->y.stride) * (int64_t)dtype_bytes(t->y.dtype);
    tile.index += axes_offset(&t->repeats, again, t->index_stride);
    return tile;
}

static void pick_tile(void *ctx, int64_t number)
{
    const struct take *t = ctx;
    const struct take_block tile = take_tile(t, number);
    for (int64_t again = 0; again < t->repeats.count; again++) {
        const struct take_block x = take_repeat(t, tile, again);
        take_pick(t->y.dtype, &x, t->length, t->columns, t->fresh);
    }
}

/* Runs in order over the rows of y that belong to one row of a. */
static void scatter_tile(void *ctx, int64_t number)
{
    const struct take *t = ctx;
    const struct take_block tile = take_tile(t, number);
    for (int64_t r = 0; t->fresh && r < tile.rows; r++)
        memset(tile.a + r * tile.a_step, 0, (size_t)t->length * dtype_bytes(t->y.dtype));
    for (int64_t again = 0; again < t->repeats.count; again++) {
        const struct take_block x = take_repeat(t, tile, again);
        take_scatter(t->y.dtype, &x, t->columns);
    }
}

/* Runs a tile function over all rows of t.y. */
static void take_run(const peat_node *n, struct take t, tile_fn f)
{
    const int lead = t.y.rank - 1;
    int64_t dim[PEAT_MAX_RANK];
    t.n = n;
    t.rows = 1;
    t.length = t.a.dim[t.a.rank - 1];
    t.columns = t.y.dim[lead];
    memcpy(dim, t.y.dim, sizeof(dim));
    dim[lead] = t.length;
    memcpy(t.a_stride, tensor_broadcast_to(&t.a, lead + 1, dim).stride, sizeof(t.a_stride));
    memcpy(t.index_stride, tensor_broadcast_to(&n->src[1]->value, lead + 1, t.y.dim).stride,
           sizeof(t.index_stride));
    axes_split(lead, t.y.dim, t.a_stride, &t.moves, &t.repeats);
    if (t.moves.count > 0 && t.moves.rank > 0) {
        t.rows = t.moves.dim[t.moves.rank - 1];
        t.along = t.moves.place[t.moves.rank - 1];
    }
    t.blocks = (t.rows + TAKE_ROWS - 1) / TAKE_ROWS;
    parallel_for(team_of(n), t.moves.count / t.rows * t.blocks, f, &t);
}

/* y_j = a[index_j] in each row */
static void forward_take(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value;
    if (indices_valid(n, &n->src[1]->value, a->dim[a->rank - 1]))
        take_run(n, (struct take){.a = *a, .y = n->value, .fresh = true}, pick_tile);
}

/* y_j = a[index_j]:  da[index_j] += dy_j, rows and j in order */
static void backward_take(peat_node *n)
{
    struct take t = {.y = n->grad};
    t.a = node_grad_whole(n->src[0], &t.fresh);
    take_run(n, t, scatter_tile);
}

peat_node *op_take_last(peat_graph *g, peat_node *a, peat_node *index)
{
    static const struct op op = {
        "take_last", infer_take, forward_take, backward_take, .unread = UNREAD_FIRST | UNREAD_SELF,
        .index = 2};
    peat_node *src[] = {op_contiguous(g, a), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, NULL, 0);
}

/* --- scatter_last ------------------------------------------------------------------------ */

static void infer_scatter(peat_node *n)
{
    const struct tensor *a = &n->src[0]->value, *index = &n->src[1]->value;
    const int64_t length = *(const int64_t *)n->arg;
    if (a->rank >= 1 && index->rank >= 1 && length >= 0 && row_length(index) == row_length(a) &&
        stretches_to(index, a->rank, a->dim))
        n->value = shape_with(a, a->rank - 1, length);
    else
        graph_fail(n->g, "operand %s, index %s and %" PRId64 " sums do not fit", shape_text(n, a),
                   shape_text(n, index), length);
}

/* y[index_j] = the sum of a_j in each row, j in order */
static void forward_scatter(peat_node *n)
{
    if (indices_valid(n, &n->src[1]->value, *(const int64_t *)n->arg))
        take_run(n, (struct take){.a = n->value, .y = n->src[0]->value, .fresh = true},
                 scatter_tile);
}

/* y[index_j] = sum of a_j:  da_j += dy[index_j] */
static void backward_scatter(peat_node *n)
{
    struct take t = {.a = n->grad};
    t.y = node_grad_whole(n->src[0], &t.fresh);
    take_run(n, t, pick_tile);
}

/* One addition for each element. */
static int64_t flops_scatter(const peat_node *n)
{
    return tensor_count(&n->src[0]->value);
}

peat_node *op_scatter_last(peat_graph *g, peat_node *a, peat_node *index, int64_t length)
{
    static const struct op op = {"scatter_last",
                                 infer_scatter,
                                 forward_scatter,
                                 backward_scatter,
                                 flops_scatter,
                                 UNREAD_FIRST | UNREAD_SELF,
                                 2};
    peat_node *src[] = {op_contiguous(g, a), op_contiguous(g, index)};
    return graph_op(graph_of(g), &op, 2, src, 0, &length, sizeof(length));
}
