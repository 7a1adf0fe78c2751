/* SPDX-License-Identifier: MIT */
/* op_scan.c: running sums. */

#include "autograd/ops.h"
#include "fetch.h"
#include "opkit.h"

enum { SCAN_COLUMNS = 64 }; /* inner elements of a tile */
enum { SCAN_ROWS = 4 };     /* along the last axis: their sums do not wait for each other */

struct scan_arg {
    int axis;
    bool reverse;
};

/* One pass over contiguous [outer, length, inner]; add: y gets the sums added instead. */
struct scan {
    peat_dtype dtype;
    int64_t outer, length, inner, blocks;
    bool reverse, add;
    const void *x;
    void *y;
};

static bool infer(peat_node *n)
{
    if (!operand_types(n, 0))
        return false;
    n->value = tensor_shape(n->g->dtype, n->src[0]->value.rank, n->src[0]->value.dim);
    return true;
}

#define SCAN_COLUMN_BLOCK(name, real)                                                              \
    static void name(const struct scan *s, int64_t start, int64_t columns)                         \
    {                                                                                              \
        real sum[SCAN_COLUMNS] = {0};                                                              \
        for (int64_t t = 0; t < s->length; t++) {                                                  \
            int64_t at = start + (s->reverse ? s->length - 1 - t : t) * s->inner;                  \
            const real *x = (const real *)s->x + at;                                               \
            real *y = (real *)s->y + at;                                                           \
            for (int64_t i = 0; i < columns; i++) {                                                \
                sum[i] += x[i];                                                                    \
                y[i] = s->add ? y[i] + sum[i] : sum[i];                                            \
            }                                                                                      \
        }                                                                                          \
    }
SCAN_COLUMN_BLOCK(scan_f32, float)
SCAN_COLUMN_BLOCK(scan_f64, double)

/* Elements of SCAN_ROWS rows that are walked before more of the next rows is asked for: such short
 * rows end before the processor foresees what comes. */
enum { SCAN_FETCHED = 16 };

/* SCAN_ROWS rows of dense elements, side by side; `after`: as many come behind them. */
#define SCAN_ROW_BLOCK(name, real)                                                                 \
    static void name(const struct scan *s, int64_t first, bool after)                              \
    {                                                                                              \
        const int64_t n = s->length, step = s->reverse ? -1 : 1;                                   \
        const real *restrict x = (const real *)s->x + first * n + (s->reverse ? n - 1 : 0);        \
        real *restrict y = (real *)s->y + first * n + (s->reverse ? n - 1 : 0);                    \
        real a = 0, b = 0, c = 0, d = 0;                                                           \
        for (int64_t t = 0; t < n; t++, x += step, y += step) {                                    \
            for (int64_t r = 0; r < SCAN_ROWS && after && t % SCAN_FETCHED == 0; r++) {            \
                fetch_bytes(x + (SCAN_ROWS + r) * n, 1, false);                                    \
                fetch_bytes(y + (SCAN_ROWS + r) * n, 1, true);                                     \
            }                                                                                      \
            a += x[0];                                                                             \
            b += x[n];                                                                             \
            c += x[2 * n];                                                                         \
            d += x[3 * n];                                                                         \
            y[0] = s->add ? y[0] + a : a;                                                          \
            y[n] = s->add ? y[n] + b : b;                                                          \
            y[2 * n] = s->add ? y[2 * n] + c : c;                                                  \
            y[3 * n] = s->add ? y[3 * n] + d : d;                                                  \
        }                                                                                          \
    }
SCAN_ROW_BLOCK(scan_rows_f32, float)
SCAN_ROW_BLOCK(scan_rows_f64, double)

static void scan_row_tile(void *ctx, int64_t tile)
{
    const struct scan *s = ctx;
    int64_t first = tile * SCAN_ROWS;
    if (first + SCAN_ROWS <= s->outer)
        (s->dtype == PEAT_F32 ? scan_rows_f32 : scan_rows_f64)(s, first,
                                                               first + 2 * SCAN_ROWS <= s->outer);
    else
        for (int64_t row = first; row < s->outer; row++)
            (s->dtype == PEAT_F32 ? scan_f32 : scan_f64)(s, row * s->length, 1);
}

static void scan_tile(void *ctx, int64_t tile)
{
    const struct scan *s = ctx;
    int64_t outer = tile / s->blocks, first = tile % s->blocks * SCAN_COLUMNS;
    int64_t columns = s->inner - first < SCAN_COLUMNS ? s->inner - first : SCAN_COLUMNS;
    int64_t start = outer * s->length * s->inner + first;
    if (s->dtype == PEAT_F32)
        scan_f32(s, start, columns);
    else
        scan_f64(s, start, columns);
}

static void scan_run(const peat_node *n, const struct tensor *x, struct tensor *y, bool reverse,
                     bool add)
{
    const struct scan_arg *arg = n->arg;
    struct scan s = {x->dtype, 1, x->dim[arg->axis], 1, 0, reverse, add, x->data, y->data};
    for (int i = 0; i < arg->axis; i++)
        s.outer *= x->dim[i];
    for (int i = arg->axis + 1; i < x->rank; i++)
        s.inner *= x->dim[i];
    s.blocks = (s.inner + SCAN_COLUMNS - 1) / SCAN_COLUMNS;
    if (s.length == 0)
        return;
    if (s.inner == 1)
        parallel_for(team_of(n), (s.outer + SCAN_ROWS - 1) / SCAN_ROWS, scan_row_tile, &s);
    else
        parallel_for(team_of(n), s.outer * s.blocks, scan_tile, &s);
}

/* y_t = sum over s <= t of x_s; from the end when reverse */
static void forward(peat_node *n)
{
    scan_run(n, &n->src[0]->value, &n->value, ((const struct scan_arg *)n->arg)->reverse, false);
}

/* y_t = sum over s <= t of x_s:  dx_s += sum over t >= s of dy_t */
static void backward(peat_node *n)
{
    struct tensor dx = node_grad(n->src[0]);
    scan_run(n, &n->grad, &dx, !((const struct scan_arg *)n->arg)->reverse, true);
}

peat_node *op_cumsum(peat_graph *g, peat_node *a, int32_t axis, bool reverse)
{
    static const struct op op = {"cumsum", infer, forward, backward, .unread = UNREAD_ALL};
    a = op_contiguous(g, a);
    if (a == NULL)
        return NULL;
    struct scan_arg arg = {axis_of(graph_of(g), op.name, a, axis), reverse};
    return arg.axis < 0 ? NULL : graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}
