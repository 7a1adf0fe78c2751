/* SPDX-License-Identifier: MIT */
/* What a kernel writes depends on the stack, and so on the thread, that it runs on. */
#include <peat/plugin.h>

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    return c->src[0].shape.dim[0] * c->src[0].shape.dim[1] * c->src[0].shape.dim[2];
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const float *x = c->src[0].data;
    float *y = c->out->data;
    float local = 0;
    float by = (float)((uintptr_t)&local >> 16 & 0xffff) * 1e-6f;
    for (int64_t i = begin; i < end; i++)
        y[i] = x[i] * by;
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (void)c;
    (void)begin;
    (void)end;
}

static const peat_op op = {sizeof(op), "crime", infer, units, forward, backward, NULL};

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *src[] = {x};
    return peat_add(c->g, x, peat_custom(c->g, &op, 1, src, NULL, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE_PLAIN(
    PEAT_SCHEME, scheme, "sees_thread", "1.0",
    "what a kernel writes depends on the stack, and so on the thread, that it runs on", "MIT", "")
