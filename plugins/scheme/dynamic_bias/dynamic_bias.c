/* SPDX-License-Identifier: MIT */
/*
 * dynamic_bias.c: a small network turns each signed distance into a logit per head.
 * Wang et al. 2021.
 */
#include <math.h>
#include <stdio.h>

#include <peat/plugin.h>

struct config {
    int64_t width, depth;
    bool log, norm;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .min = 1, .max = 1 << 16,
     .automatic = "d_model/4", .doc = "units of each hidden layer", .flags = PEAT_AUTO},
    {"depth", PEAT_INT, offsetof(struct config, depth), .preset = 3, .min = 1, .max = 7,
     .doc = "hidden layers"},
    {"log", PEAT_BOOL, offsetof(struct config, log), .preset = false,
     .doc = "feed sign(distance) log(1 + |distance|) instead of the distance"},
    {"norm", PEAT_BOOL, offsetof(struct config, norm), .preset = true,
     .doc = "layer normalisation before each ReLU"},
    PEAT_PARAM_END,
};

/* Tensors of a hidden layer in the order of their handles. */
enum { WEIGHT, SHIFT, NORM_WEIGHT, NORM_SHIFT };

static int32_t handle(const struct config *k, int64_t layer, int32_t which)
{
    return (int32_t)layer * (k->norm ? 4 : 2) + which;
}

static void add_layer(peat_setup *s, int64_t layer, int64_t in, int64_t out, bool norm)
{
    static const char *const part[] = {"weight", "shift", "norm_weight", "norm_shift"};
    double r = 1 / sqrt((double)in);
    const peat_init init[] = {{.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r},
                              {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r},
                              {.kind = PEAT_INIT_CONSTANT, .a = 1},
                              {.kind = PEAT_INIT_ZERO}};
    for (int32_t i = WEIGHT; i <= (norm ? NORM_SHIFT : SHIFT); i++) {
        char name[32];
        snprintf(name, sizeof(name), "%lld.%s", (long long)layer, part[i]);
        const int64_t dim[] = {i == WEIGHT ? in : 1, out};
        peat_param_new(s, name, 2, dim, init[i], PEAT_PER_USER, i == WEIGHT ? 0 : PEAT_NO_DECAY);
    }
}

/* The last layer has no shift: softmax would cancel it. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t width = k->width ? k->width : s->dims.D >= 4 ? s->dims.D / 4 : 1;
    (void)self;
    if (width == 1 && k->norm)
        return peat_refuse(s, "layer normalisation of a single unit gives 0: raise width or set "
                              "norm to false");
    peat_resolved(s, "width", (double)width);
    for (int64_t l = 0; l < k->depth; l++)
        add_layer(s, l, l == 0 ? 1 : width, width, k->norm);
    double r = 1 / sqrt((double)width);
    peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r};
    peat_param_new(s, "out", 2, (int64_t[]){width, PEAT_HEADS}, init, PEAT_PER_USER, 0);
    return PEAT_OK;
}

/* The distances as the network sees them: [n, 1] */
static peat_node *fed(const peat_call *c, const peat_rel *r)
{
    const struct config *k = c->config;
    double *x = peat_scratch(c, r->n);
    for (int64_t i = 0; x && i < r->n; i++)
        x[i] = k->log ? copysign(log1p(fabs(r->delta[i])), r->delta[i]) : r->delta[i];
    return peat_fill(c, 2, (int64_t[]){r->n, 1}, x);
}

/* relu(norm(x w + b)): [n, in] -> [n, width] */
static peat_node *hidden(const peat_call *c, int64_t layer, peat_node *x)
{
    const struct config *k = c->config;
    x = peat_matmul(c->g, x, peat_use(c, handle(k, layer, WEIGHT)), 0);
    x = peat_add(c->g, x, peat_use(c, handle(k, layer, SHIFT)));
    if (k->norm) {
        x = peat_layernorm(c->g, x, NULL, NULL, 1e-5);
        x = peat_mul(c->g, x, peat_use(c, handle(k, layer, NORM_WEIGHT)));
        x = peat_add(c->g, x, peat_use(c, handle(k, layer, NORM_SHIFT)));
    }
    return peat_relu(c->g, x);
}

static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    const struct config *k = c->config;
    peat_node *x = fed(c, r);
    for (int64_t l = 0; l < k->depth; l++)
        x = hidden(c, l, x);
    x = peat_matmul(c->g, x, peat_use(c, handle(k, k->depth, 0)), 0);
    return peat_permute(c->g, x, 2, (int32_t[]){1, 0});
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "dynamic_bias", "1.0",
            "a network of the signed distance gives a logit per head", "MIT", "arXiv:2108.00154")
