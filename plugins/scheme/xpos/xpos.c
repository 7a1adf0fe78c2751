/* SPDX-License-Identifier: MIT */
/*
 * xpos.c: rotary whose queries grow and whose keys shrink with position, so that products fade with
 * distance, fast frequencies first. Sun et al. 2022, section 3.
 */
#include <math.h>

#include "../rotation.h"

struct config {
    int64_t layout; /* peat_layout */
    double base, gamma, scale_base, centre;
};

static const peat_param rows[] = {
    ROTATION_LAYOUT_ROW(struct config),
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    {"gamma", PEAT_REAL, offsetof(struct config, gamma), .preset = 0.4, .min = 1e-3, .max = 1e6,
     .doc = "evens the decay of the pairs out; the larger, the slower"},
    {"scale_base", PEAT_REAL, offsetof(struct config, scale_base), .preset = 512, .min = 1,
     .max = 1e9, .unit = "tokens", .doc = "distance over which pair i fades by zeta_i"},
    {"centre", PEAT_REAL, offsetof(struct config, centre), .min = 0, .max = 1e9,
     .automatic = "half of the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "where both scales are 1; products do not depend on it",
     .flags = PEAT_AUTO | PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

struct xpos {
    double centre;
};

/* The base of the decay of pair i of n: (i/n + gamma) / (1 + gamma) */
static double zeta(const struct config *k, int64_t i, int64_t n)
{
    return ((double)i / (double)n + k->gamma) / (1 + k->gamma);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const double most = 1e9; /* half of the range of F32 is left to the products */
    const struct config *k = config;
    struct xpos *x = peat_alloc(s, sizeof(*x));
    if (!x)
        return PEAT_NOMEM;
    if (rotation_needs_pairs(s) != PEAT_OK)
        return PEAT_REFUSED;
    double T = (double)s->dims.T_max;
    x->centre = k->centre > 0 ? k->centre : T / 2;
    if (pow(zeta(k, 0, s->dims.C / 2), -fmax(x->centre, T - x->centre) / k->scale_base) > most)
        return peat_refuse(s,
                           "at %lld positions the first pair is scaled by more than %g: raise "
                           "scale_base or gamma",
                           (long long)s->dims.T_max, most);
    peat_resolved(s, "centre", x->centre);
    *self = x;
    return PEAT_OK;
}

/* cos and sin of the angles p base^(-i/n), times zeta_i^(sign (p - centre) / scale_base), of the
 * n pairs: each [pos_B, 1, T, n], the same for all heads. False: a number would not be finite. */
static bool turn_side(const peat_call *c, const peat_side *side, int64_t n, double sign,
                      peat_node **turn)
{
    const struct config *k = c->config;
    double centre = ((const struct xpos *)c->self)->centre;
    double *cosine = peat_scratch(c, side->pos_B * side->T * n);
    double *sine = peat_scratch(c, side->pos_B * side->T * n);
    for (int64_t t = 0; cosine && sine && t < side->pos_B * side->T; t++)
        for (int64_t i = 0; i < n; i++) {
            double angle = side->pos[t] * pow(k->base, -(double)i / (double)n);
            double scale = pow(zeta(k, i, n), sign * (side->pos[t] - centre) / k->scale_base);
            if (scale > 1e30) {
                peat_fail(c->g,
                          "position %g is too far from the centre, %g: raise scale_base or gamma",
                          side->pos[t], centre);
                return false;
            }
            cosine[t * n + i] = scale * cos(angle);
            sine[t * n + i] = scale * sin(angle);
        }
    const int64_t dim[] = {side->pos_B, 1, side->T, n};
    turn[0] = peat_fill(c, 4, dim, cosine);
    turn[1] = peat_fill(c, 4, dim, sine);
    return true;
}

static peat_status turn_both(const peat_call *c, int64_t n, peat_node **turn)
{
    bool finite = turn_side(c, c->q, n, 1, turn) && turn_side(c, c->k, n, -1, turn + 2);
    return finite ? PEAT_OK : PEAT_FAILED;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    return turn_both(c, c->dims.C / 2, shared);
}

/* Where `where.dims` narrows a head, the width differs from the one prepared for. */
static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_layout layout = (peat_layout)((const struct config *)c->config)->layout;
    int64_t C = peat_shape_of(c->g, io->q).dim[3];
    peat_node *own[4];
    peat_node *const *turn = c->shared;
    if (C % 2) {
        peat_fail(c->g, "%lld dimensions do not split into pairs that turn", (long long)C);
        return PEAT_FAILED;
    }
    if (C != c->dims.C) {
        if (turn_both(c, C / 2, own) != PEAT_OK)
            return PEAT_FAILED;
        turn = own;
    }
    io->q = peat_rotate(c->g, io->q, turn[0], turn[1], layout);
    io->k = peat_rotate(c->g, io->k, turn[2], turn[3], layout);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NEEDS_CAUSAL | PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "xpos", "1.0",
            "rotary whose products fade with distance", "MIT", "arXiv:2212.10554")
