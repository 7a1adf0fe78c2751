/* SPDX-License-Identifier: MIT */
/* parameters.c: a scheme with parameters. The crimes are in what some values do. */
#include <peat/plugin.h>

struct config {
    int64_t every, size, form;
};

#ifdef CRIME_dies_at_bound /* which is divided by */
enum { LEAST = 0 };
#else
enum { LEAST = 1 };
#endif

enum { COMPOSED, CUSTOM };
static const char *const forms[] = {"composed", "custom", NULL};

static const peat_param rows[] = {
    {"every", PEAT_INT, offsetof(struct config, every), .preset = 2, .min = LEAST, .max = 8,
     .doc = "a period"},
    {"size", PEAT_INT, offsetof(struct config, size), .preset = 2, .min = 1, .max = 64,
     .doc = "a size"},
    {"form", PEAT_ENUM, offsetof(struct config, form), .labels = forms, .doc = "what is computed"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t *whole = peat_alloc(s, sizeof(*whole));
    if (!whole)
        return PEAT_NOMEM;
#if defined(CRIME_dies_at_bound)
    if (k->every == 0)
        __builtin_trap();
#elif defined(CRIME_fails_at_bound) /* without a word */
    if (k->size > 32)
        return PEAT_FAILED;
#elif defined(CRIME_refuses_defaults)
    return peat_refuse(s, "a width of %lld is not a multiple of 7", (long long)s->dims.D);
#endif
    *whole = s->dims.D / k->every;
    *self = whole;
    return PEAT_OK;
}

/* ---- half of x, as an operation ---- */

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
    double factor = 0.5;
#ifdef CRIME_wrong_label /* in one of two forms the sign is wrong */
    factor = -0.5;
#endif
    for (int64_t i = begin; i < end; i++)
        peat_accumulate(&c->src_grad[0], i, factor * peat_load(c->out_grad, i));
}

static const peat_op op = {.size = sizeof(op),
                           .name = "half",
                           .infer = infer,
                           .units = units,
                           .forward = forward,
                           .backward = backward};

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const struct config *k = c->config;
    if (k->form == COMPOSED)
        return peat_affine(c->g, x, 1.5, 0);
    return peat_add(c->g, x, peat_custom(c->g, &op, 1, &x, NULL, 0));
}

static const peat_scheme scheme = {.size = sizeof(scheme), .setup = setup, .residual = residual};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0", "has parameters", "MIT", "")
