/* SPDX-License-Identifier: MIT */
/* A kernel normalises its tensor in place. */
#include <peat/plugin.h>

static bool infer(const peat_op_call *c, peat_shape *out)
{
    *out = c->src[0].shape;
    return true;
}

static int64_t units(const peat_op_call *c)
{
    (void)c;
    return 1;
}

static int64_t count(const peat_op_call *c)
{
    return c->src[0].shape.dim[0] * c->src[0].shape.dim[1] * c->src[0].shape.dim[2];
}

static void forward(const peat_op_call *c, int64_t begin, int64_t end)
{
    const float *x = c->src[0].data;
    float *y = c->out->data;
    float *w = c->src[1].data;
    (void)begin;
    (void)end;
    w[0] = 1;
    for (int64_t i = 0; i < count(c); i++)
        y[i] = x[i] * w[i % c->src[1].shape.dim[0]];
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    (void)c;
    (void)begin;
    (void)end;
}

static const peat_op op = {sizeof(op), "crime", infer, units, forward, backward, NULL};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    peat_param_new(s, "w", 1, &s->dims.D, (peat_init){.kind = PEAT_INIT_CONSTANT, .a = 2},
                   PEAT_ONCE, 0);
    return PEAT_OK;
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    peat_node *src[] = {x, peat_use(c, 0)};
    return peat_add(c->g, x, peat_custom(c->g, &op, 2, src, NULL, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .setup = setup,
    .residual = residual,
};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "writes_tensor", "1.0",
                  "a kernel normalises its tensor in place", "MIT", "")
