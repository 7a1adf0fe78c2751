/* SPDX-License-Identifier: MIT */
/* op_scan.c: running sums. */

#include "autograd/ops.h"
#include "opkit.h"

enum { SCAN_COLUMNS = 64 }; /* inner elements of a tile */

struct scan_arg {
    int axis;
    bool reverse;
};

/* One pass over contiguous [outer, length, inner]; add: y gets the sums added instead. */
struct scan {
    peat_dtype dtype;
    int64_t length, inner, blocks;
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
    struct scan s = {x->dtype, x->dim[arg->axis], 1, 0, reverse, add, x->data, y->data};
    int64_t outer = 1;
    for (int i = 0; i < arg->axis; i++)
        outer *= x->dim[i];
    for (int i = arg->axis + 1; i < x->rank; i++)
        s.inner *= x->dim[i];
    s.blocks = (s.inner + SCAN_COLUMNS - 1) / SCAN_COLUMNS;
    parallel_for(team_of(n), s.length == 0 ? 0 : outer * s.blocks, scan_tile, &s);
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
    static const struct op op = {"cumsum", infer, forward, backward, NULL};
    a = op_contiguous(g, a);
    if (a == NULL)
        return NULL;
    struct scan_arg arg = {axis_of(graph_of(g), op.name, a, axis), reverse};
    return arg.axis < 0 ? NULL : graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}
