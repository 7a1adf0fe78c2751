/* SPDX-License-Identifier: MIT */
/*
 * carope.c: queries and keys turn by angles that every token of the past adds to, each head by an
 * amount of its own. Veisi, Fartoot and Amirzadeh 2025, section 2.
 */
#include <math.h>

#include "../rotation.h"

enum { WEIGHT };

struct config {
    int64_t layout; /* peat_layout */
    double base, init_std;
};

static const peat_param rows[] = {
    ROTATION_LAYOUT_ROW(struct config),
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "base of the rotary that it starts as", .flags = PEAT_OPEN_MIN},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial weights: with 0 it starts as rotary"},
    PEAT_PARAM_END,
};

struct carope {
    double shift;
};

/* 1 / (softplus(shift) + 1) = base^(-2/C), the frequency that rotary raises to the powers i. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct carope *r = peat_alloc(s, sizeof(*r));
    if (!r)
        return PEAT_NOMEM;
    double softplus = pow(k->base, 2 / (double)s->dims.C) - 1;
    r->shift = softplus + log(-expm1(-softplus));
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "weight", 2, (int64_t[]){PEAT_HEADS, s->dims.D}, init, PEAT_PER_LAYER, 0);
    *self = r;
    return rotation_needs_pairs(s);
}

/* angle_i at m = sum over t <= m of f_t^i, f_t = 1 / (softplus(w x_t + shift) + 1): [B,H,T,C/2] */
static peat_node *angles(const peat_call *c)
{
    int64_t n = c->dims.C / 2;
    double *power = peat_scratch(c, n);
    for (int64_t i = 0; power && i < n; i++)
        power[i] = (double)i;
    peat_node *z = peat_matmul(c->g, c->x_q, peat_use(c, WEIGHT), PEAT_TRANS_B);
    z = peat_affine(c->g, z, 1, ((const struct carope *)c->self)->shift);
    z = peat_of_queries(c->g, z);
    peat_node *log_f = peat_scale(c->g, peat_log1p(c->g, peat_softplus(c->g, z)), -1);
    peat_node *f = peat_exp(c->g, peat_mul(c->g, log_f, peat_fill(c, 1, &n, power)));
    return peat_cumsum(c->g, f, 2, false);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *angle = angles(c);
    return peat_turn(c, io, angle, angle, (peat_layout)((const struct config *)c->config)->layout);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_X,
    .traits = PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "carope", "1.0",
            "queries and keys turn by what the tokens before them add up to", "MIT",
            "arXiv:2507.23083")
