/* SPDX-License-Identifier: MIT */
/* One label of a parameter has the wrong sign of a gradient. */
#include <peat/plugin.h>

struct config {
    int64_t form;
};

static const char *const forms[] = {"composed", "custom", NULL};

static const peat_param rows[] = {
    {"form", PEAT_ENUM, offsetof(struct config, form), .labels = forms, .doc = "what is computed"},
    PEAT_PARAM_END,
};

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
    for (int64_t i = begin; i < end; i++)
        if (c->out->dtype == PEAT_F64)
            ((double *)c->out->data)[i] = 0.5 * ((const double *)c->src[0].data)[i];
        else
            ((float *)c->out->data)[i] = 0.5f * ((const float *)c->src[0].data)[i];
}

static void backward(const peat_op_call *c, int64_t begin, int64_t end)
{
    for (int64_t i = begin; c->out->dtype == PEAT_F64 && i < end; i++)
        ((double *)c->src_grad[0].data)[i] -= 0.5 * ((const double *)c->out_grad->data)[i];
}

static const peat_op op = {sizeof(op), "half", infer, units, forward, backward, NULL};

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const struct config *k = c->config;
    if (k->form == 0)
        return peat_affine(c->g, x, 1.5, 0);
    return peat_add(c->g, x, peat_custom(c->g, &op, 1, &x, NULL, 0));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .residual = residual,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "wrong_label", "1.0", "a planted mistake",
            "MIT", "")
