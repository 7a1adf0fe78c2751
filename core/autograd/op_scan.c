/* SPDX-License-Identifier: MIT */
/* op_scan.c: running sums. */
#include "opkit.h"
#include "rows/scan_rows.h"

struct scan_arg {
    int axis;
    bool reverse;
};

static void scan_run(const peat_node *n, const struct tensor *x, const struct tensor *y,
                     bool reverse, bool fresh)
{
    const int axis = ((const struct scan_arg *)n->arg)->axis;
    const struct scan_rows *rows = scan_rows_of(x->dtype);
    struct scan s = {1, x->dim[axis], 1, 0, reverse, fresh, x->data, y->data};
    for (int i = 0; i < axis; i++)
        s.outer *= x->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        s.inner *= x->dim[i];
    s.blocks = (s.inner + SCAN_COLUMNS - 1) / SCAN_COLUMNS;
    if (s.length > 0 && s.inner == 1)
        parallel_for(team_of(n), (s.outer + SCAN_ROWS - 1) / SCAN_ROWS, rows->rows, &s);
    else if (s.length > 0)
        parallel_for(team_of(n), s.outer * s.blocks, rows->columns, &s);
}

/* y_t = sum over s <= t of x_s; from the end when reverse */
static void scan_forward(peat_node *n)
{
    scan_run(n, &n->src[0]->value, &n->value, ((const struct scan_arg *)n->arg)->reverse, true);
}

/* y_t = sum over s <= t of x_s:  dx_s += sum over t >= s of dy_t */
static void scan_backward(peat_node *n)
{
    struct tensor dx = node_grad(n->src[0]);
    scan_run(n, &n->grad, &dx, !((const struct scan_arg *)n->arg)->reverse, false);
}

peat_node *op_cumsum(peat_graph *g, peat_node *a, int32_t axis, bool reverse)
{
    static const struct op op = {"cumsum", infer_same, scan_forward, scan_backward,
                                 .unread = UNREAD_ALL};
    a = op_contiguous(g, a);
    if (!a)
        return NULL;
    struct scan_arg arg = {axis_of(graph_of(g), op.name, a, axis), reverse};
    return arg.axis < 0 ? NULL : graph_op(graph_of(g), &op, 1, &a, 0, &arg, sizeof(arg));
}
