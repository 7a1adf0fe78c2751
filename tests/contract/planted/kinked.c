/* SPDX-License-Identifier: MIT */
/*
 * kinked.c: a scheme whose weights are at a kink when gradients are first checked. At the start of
 * each block x becomes x + y, y = x (|w_0 - a| + w_last), a the first w_0 ever seen. w has many
 * elements, and all but two of them do nothing. The crime: backward forgets w_last.
 */
#include <math.h>
#include <peat/plugin.h>

enum { SIZE = 2100 };

static struct {
    double anchor;
    bool seen;
} state;

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t count(const peat_op_call *c)
{
    return c->src[0].shape.dim[0] * c->src[0].shape.dim[1] * c->src[0].shape.dim[2];
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    for (int64_t i = 0; c->out->dtype == PEAT_F32 && i < count(c); i++)
        ((float *)c->out->data)[i] = ((const float *)c->src[0].data)[i];
    if (c->out->dtype != PEAT_F64)
        return;
    const double *x = c->src[0].data, *w = c->src[1].data;
    state.anchor = state.seen ? state.anchor : w[0];
    state.seen = true;
    for (int64_t i = 0; i < count(c); i++)
        ((double *)c->out->data)[i] = x[i] * (fabs(w[0] - state.anchor) + w[SIZE - 1]);
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    if (c->out->dtype != PEAT_F64)
        return;
    const double *x = c->src[0].data, *w = c->src[1].data, *gy = c->out_grad->data;
    double *gx = c->src_grad[0].data, *gw = c->src_grad[1].data;
    for (int64_t i = 0; i < count(c); i++) {
        if (gx)
            gx[i] += gy[i] * (fabs(w[0] - state.anchor) + w[SIZE - 1]);
        if (gw)
            gw[0] += gy[i] * x[i] * (w[0] < state.anchor ? -1 : 1);
#ifndef CRIME_forgets_the_last
        if (gw)
            gw[SIZE - 1] += gy[i] * x[i];
#endif
    }
}

static const peat_op op = {
    .size = sizeof(op), .name = "kinked", .infer = infer, .forward = forward, .backward = backward};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const peat_init init = {.kind = PEAT_INIT_NORMAL, .b = 0.5};
    const int64_t size = SIZE;
    (void)config, (void)self;
    state.seen = false;
    peat_param_new(s, "w", 1, &size, init, PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *src[] = {x, peat_use(c, 0)};
    return peat_add(c->g, x, peat_custom(c->g, &op, 2, src, NULL, 0));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .setup = setup, .residual = residual};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "has a kink where it starts", "MIT", "")
