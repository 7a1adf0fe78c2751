/* SPDX-License-Identifier: MIT */
/*
 * bam.c: a bias is the logarithm of a prior over positions, a generalized Gaussian with a trained
 * scale and shape for each head. Bianchessi et al. 2025, with the authors' code for epsilon.
 */
#include "../slopes.h"

enum { ALPHA, BETA, MU };

struct config {
    double init_shape;
    bool location;
};

static const peat_param rows[] = {
    {"init_shape", PEAT_REAL, offsetof(struct config, init_shape), .preset = 1, .min = -3, .max = 3,
     .doc = "start of theta_beta: 1 is a Laplace prior as in alibi, 2 a Gaussian, 0 a uniform one"},
    {"location", PEAT_BOOL, offsetof(struct config, location), .preset = false,
     .doc = "train theta_mu, which moves the centre of the prior away from the query"},
    PEAT_PARAM_END,
};

/* Bounds keep the bias finite in F32 up to a million tokens. theta_alpha is counted from the
 * logarithm of the head's slope, which depends on the group of heads. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    const struct {
        const char *name;
        double start, most;
    } tensor[] = {{"theta_alpha", 0, 20}, {"theta_beta", k->init_shape, 3}, {"theta_mu", 0, 10}};
    (void)self;
    for (int i = ALPHA; i <= (k->location ? MU : BETA); i++) {
        peat_init init = {.kind = PEAT_INIT_CONSTANT, .a = tensor[i].start};
        int32_t theta = peat_param_new(s, tensor[i].name, 2, (int64_t[]){PEAT_HEADS, 1}, init,
                                       PEAT_PER_USER, PEAT_NO_DECAY);
        peat_bound(s, theta, -tensor[i].most, tensor[i].most);
    }
    return PEAT_OK;
}

/* mu = exp(theta_mu) - exp(-theta_mu), in tokens */
static peat_node *location(const peat_call *c)
{
    peat_node *theta = peat_use(c, MU);
    return peat_sub(c->g, peat_exp(c->g, theta), peat_exp(c->g, peat_scale(c->g, theta, -1)));
}

/* bias[h, i] = -slope_h exp(theta_alpha) (|delta_i - mu| + epsilon)^theta_beta */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    const double epsilon = 1e-5;
    double *slope = peat_scratch(c, c->H);
    for (int64_t h = 0; slope && h < c->H; h++)
        slope[h] = -slopes_at(h, c->H);
    peat_node *apart = peat_fill(c, 2, (int64_t[]){1, r->n}, r->delta);
    if (((const struct config *)c->config)->location)
        apart = peat_sub(c->g, apart, location(c));
    apart = peat_log(c->g, peat_affine(c->g, peat_abs(c->g, apart), 1, epsilon));
    apart = peat_add(c->g, peat_mul(c->g, peat_use(c, BETA), apart), peat_use(c, ALPHA));
    peat_node *fall = peat_fill(c, 2, (int64_t[]){c->H, 1}, slope);
    return peat_mul(c->g, fall, peat_exp(c->g, apart));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_ACROSS,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "bam", "1.0",
            "a trained prior over positions, a generalized Gaussian", "MIT", "arXiv:2505.22842")
