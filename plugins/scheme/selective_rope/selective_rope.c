/* SPDX-License-Identifier: MIT */
/*
 * selective_rope.c: queries and keys turn by sums of angles that tokens choose, each pair its own.
 * Movahedi et al. 2025, sections 3.3 and 4.1, with the authors' module for what they leave open.
 */
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
     .unit = "tokens", .doc = "width of the convolution over a token's angles and those before"},
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
    peat_node *x = peat_reshape(c->g, c->x_q, 4, (int64_t[]){c->B, c->q->T, c->dims.H, -1});
    return peat_reshape(c->g, peat_normalize(c->g, x, 1e-6), 3, (int64_t[]){c->B, c->q->T, -1});
}

/* angle_i at t = base^(-i/n) (sum over s <= t of phi_si): [B,H,T,n] */
static peat_node *angles(const peat_call *c)
{
    const struct config *k = c->config;
    int64_t n = c->dims.C / 2;
    peat_node *x = unit_heads(c), *up = peat_use(c, UP), *taps = peat_use(c, TAPS);
    up = peat_reshape(c->g, up, 2, (int64_t[]){c->H * n, k->rank});
    taps = peat_reshape(c->g, taps, 2, (int64_t[]){k->kernel, c->H * n});
    peat_node *phi = peat_matmul(c->g, x, peat_use(c, DOWN), PEAT_TRANS_B);
    phi = neighbour_mix(c, peat_matmul(c->g, phi, up, PEAT_TRANS_B), k->kernel, taps);
    phi = peat_by_head(c->g, phi, n);
    if (k->gate) {
        peat_node *gate = peat_matmul(c->g, x, peat_use(c, GATE), PEAT_TRANS_B);
        gate = peat_sigmoid(c->g, peat_add(c->g, gate, peat_use(c, GATE_SHIFT)));
        phi = peat_mul(c->g, phi, peat_of_queries(c->g, gate));
    }
    return peat_mul(c->g, peat_cumsum(c->g, phi, 2, false), peat_frequencies(c, n, k->base));
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *angle = angles(c);
    return peat_turn(c, io, angle, angle, PEAT_HALVES);
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
