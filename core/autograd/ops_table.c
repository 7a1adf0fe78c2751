/* SPDX-License-Identifier: MIT */
/* ops_table.c: the table of operations for plugins. */

#include "opkit.h"

__attribute__((format(printf, 2, 3))) static peat_node *fail(peat_graph *g, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    struct graph *whole = graph_of(g);
    whole->given_up = whole->given_up || !graph_failed(whole);
    return graph_fail(whole, "%s", text);
}

static void shape(const peat_node *a, peat_shape *s)
{
    *s = (peat_shape){.rank = a->value.rank};
    for (int i = 0; i < a->value.rank; i++)
        s->dim[i] = a->value.dim[i];
}

const peat_ops ops_table = {
    .size = sizeof(ops_table),
    .add = op_add,
    .sub = op_sub,
    .mul = op_mul,
    .div = op_div,
    .minimum = op_minimum,
    .maximum = op_maximum,
    .affine = op_affine,
    .exp = op_exp,
    .log = op_log,
    .log1p = op_log1p,
    .sqrt = op_sqrt,
    .sin = op_sin,
    .cos = op_cos,
    .tanh = op_tanh,
    .sigmoid = op_sigmoid,
    .log_sigmoid = op_log_sigmoid,
    .softplus = op_softplus,
    .relu = op_relu,
    .gelu = op_gelu,
    .gelu_tanh = op_gelu_tanh,
    .abs = op_abs,
    .floor = op_floor,
    .clamp = op_clamp,
    .matmul = op_matmul,
    .permute = op_permute,
    .reshape = op_reshape,
    .slice = op_slice,
    .concat = op_concat,
    .pad = op_pad,
    .expand = op_expand,
    .sum = op_sum,
    .mean = op_mean,
    .softmax = op_softmax,
    .layernorm = op_layernorm,
    .rmsnorm = op_rmsnorm,
    .normalize = op_normalize,
    .cumsum = op_cumsum,
    .gather_rows = op_gather_rows,
    .take_last = op_take_last,
    .rotate = op_rotate,
    .custom = op_custom,
    .give_up = fail,
    .shape = shape,
    .custom_all = op_custom_all,
    .matmul_take = op_matmul_take,
    .scatter_last = op_scatter_last,
};
