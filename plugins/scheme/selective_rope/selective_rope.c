/* SPDX-License-Identifier: MIT */
/*
 * selective_rope.c: queries and keys turn by sums of angles that tokens choose, each pair its own.
 * Movahedi et al. 2025, sections 3.3 and 4.1, with the authors' module for what they leave open.
 */
#include <math.h>

#include "../linear.h"
#include "../neighbours.h"
#include "../rotation.h"

enum { DOWN, UP, TAPS, GATE, GATE_SHIFT };

struct config {
    int64_t rank, kernel;
    double base;
    bool gate;
};

static const peat_param rows[] = {
    {"rank", PEAT_INT, offsetof(struct config, rank), .preset = 16, .min = 1, .max = 1 << 16,
     .doc = "width between the two projections of the input to angles"},
    {"kernel", PEAT_INT, offsetof(struct config, kernel), .preset = 4, .min = 1, .max = 1 << 10,
     .unit = "tokens",
     .doc = "width of the convolution over the angles of a token and of those "
            "before it"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 5e5, .min = 1, .max = 1e12,
     .doc = "ratio of the fastest pair's factor to the slowest's", .flags = PEAT_OPEN_MIN},
    {"gate", PEAT_BOOL, offsetof(struct config, gate), .preset = false,
     .doc = "a sigmoid of the input decides for each head how far it turns"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t D = s->dims.D, n = s->dims.C / 2;
    (void)self;
    if (rotation_needs_pairs(s) != PEAT_OK)
        return PEAT_REFUSED;
    linear_param(s, "down", 2, (int64_t[]){k->rank, D}, D);
    linear_param(s, "up", 3, (int64_t[]){PEAT_HEADS, n, k->rank}, k->rank);
    linear_param(s, "taps", 3, (int64_t[]){k->kernel, PEAT_HEADS, n}, k->kernel);
    if (k->gate) {
        linear_param(s, "gate", 2, (int64_t[]){PEAT_HEADS, D}, D);
        linear_param(s, "gate_shift", 1, (int64_t[]){PEAT_HEADS}, D);
    }
    return PEAT_OK;
}

/* x of each head brought to length 1: [B,T,D]. */
static peat_node *unit_heads(const peat_call *c)
{
    int64_t B = c->B, T = c->q->T, D = c->dims.D, H = c->dims.H;
    peat_node *x = peat_reshape(c->g, c->x_q, 4, (int64_t[]){B, T, H, D / H});
    return peat_reshape(c->g, peat_normalize(c->g, x, 1e-6), 3, (int64_t[]){B, T, D});
}

/* angle_i at t = base^(-i/n) (sum over s <= t of phi_si): [B,H,T,n] */
static peat_node *angles(const peat_call *c)
{
    const struct config *k = c->config;
    int64_t H = c->H, n = c->dims.C / 2;
    double *factor = peat_scratch(c, n);
    for (int64_t i = 0; factor && i < n; i++)
        factor[i] = pow(k->base, -(double)i / (double)n);
    peat_node *x = unit_heads(c);
    peat_node *up = peat_reshape(c->g, peat_use(c, UP), 2, (int64_t[]){H * n, k->rank});
    peat_node *taps = peat_reshape(c->g, peat_use(c, TAPS), 2, (int64_t[]){k->kernel, H * n});
    peat_node *phi = peat_matmul(c->g, x, peat_use(c, DOWN), PEAT_TRANS_B);
    phi = neighbour_mix(c, peat_matmul(c->g, phi, up, PEAT_TRANS_B), k->kernel, taps);
    phi = peat_reshape(c->g, phi, 4, (int64_t[]){c->B, c->q->T, H, n});
    if (k->gate) {
        peat_node *gate = peat_matmul(c->g, x, peat_use(c, GATE), PEAT_TRANS_B);
        gate = peat_sigmoid(c->g, peat_add(c->g, gate, peat_use(c, GATE_SHIFT)));
        gate = peat_reshape(c->g, gate, 4, (int64_t[]){c->B, c->q->T, H, 1});
        phi = peat_mul(c->g, phi, gate);
    }
    phi = peat_mul(c->g, peat_cumsum(c->g, phi, 1, false), peat_fill(c, 1, &n, factor));
    return peat_permute(c->g, phi, 4, (int32_t[]){0, 2, 1, 3});
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    return rotation_by(c, io, angles(c), PEAT_HALVES);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_X,
    .traits = PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_CONTENT_DEPENDENT,
    .setup = setup,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "selective_rope", "1.0",
            "queries and keys turn by angles that the tokens choose", "MIT", "arXiv:2511.17388")
