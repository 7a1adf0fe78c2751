/* SPDX-License-Identifier: MIT */
/*
 * planted.h: a scheme around a custom operation, all right but for its backward.
 *
 * At the start of each block x becomes x + y, y = w (x + b) with w and b [D]. A unit is a column.
 * The file that includes this defines column() and nothing else.
 */
#include <peat/plugin.h>

/* One column of the operands and of their gradients; rows are `step` apart. */
struct column {
    int64_t n, step, d;
    const double *x, *gy, *y;
    double w, b;
    double *gx, *gw, *gb; /* gw and gb point at [0], not at the column's own element */
};

static void column(const struct column *c);

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    return c->src[1].shape.dim[0];
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t D = units(c), n = c->src[0].shape.dim[0] * c->src[0].shape.dim[1];
    for (int64_t d = begin; d < end; d++)
        for (int64_t i = 0; i < n; i++)
            if (c->out->dtype == PEAT_F64) {
                const double *x = c->src[0].data, *w = c->src[1].data, *b = c->src[2].data;
                ((double *)c->out->data)[i * D + d] = w[d] * (x[i * D + d] + b[d]);
            } else {
                const float *x = c->src[0].data, *w = c->src[1].data, *b = c->src[2].data;
                ((float *)c->out->data)[i * D + d] = w[d] * (x[i * D + d] + b[d]);
            }
}

/* Gradients are checked in F64. */
static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    int64_t D = units(c), n = c->src[0].shape.dim[0] * c->src[0].shape.dim[1];
    for (int64_t d = begin; c->out->dtype == PEAT_F64 && d < end; d++) {
        const struct column column_d = {
            n,
            D,
            d,
            (const double *)c->src[0].data + d,
            (const double *)c->out_grad->data + d,
            (const double *)c->out->data + d,
            ((const double *)c->src[1].data)[d],
            ((const double *)c->src[2].data)[d],
            (double *)c->src_grad[0].data + d,
            c->src_grad[1].data,
            c->src_grad[2].data,
        };
        column(&column_d);
    }
}

static const peat_op op = {sizeof(op), "planted", infer, units, forward, backward, NULL};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .a = 1, .b = 0.5};
    (void)config;
    (void)self;
    peat_param_new(s, "w", 1, &s->dims.D, init, PEAT_ONCE, 0);
    peat_param_new(s, "b", 1, &s->dims.D, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *src[] = {x, peat_use(c, 0), peat_use(c, 1)};
    return peat_add(c->g, x, peat_custom(c->g, &op, 3, src, NULL, 0));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .setup = setup, .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "a planted mistake", "MIT", "")
