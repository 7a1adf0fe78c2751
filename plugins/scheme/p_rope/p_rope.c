/* SPDX-License-Identifier: MIT */
/*
 * p_rope.c: rotary without its lowest frequencies: the pairs that would turn slowest stand still.
 * Barbero et al. 2024, where it is called p-RoPE.
 */
#include <math.h>

#include "../rotation.h"

struct config {
    int64_t layout; /* peat_layout */
    double fraction, base;
};

static const peat_param rows[] = {
    ROTATION_LAYOUT_ROW(struct config),
    {"fraction", PEAT_REAL, offsetof(struct config, fraction), .preset = 0.75, .min = 0, .max = 1,
     .doc = "part of the pairs that turns, the fastest first: the paper's p",
     .flags = PEAT_OPEN_MIN},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength of rotary to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static int64_t turning(const struct config *k, int64_t pairs)
{
    return (int64_t)(k->fraction * (double)pairs);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    (void)self;
    if (s->dims.C % 2 == 0 && turning(k, s->dims.C / 2) == 0)
        return peat_refuse(s,
                           "fraction = %g leaves none of the %lld pairs of a head: raise fraction "
                           "or lower model.n_head",
                           k->fraction, (long long)s->dims.C / 2);
    return rotation_needs_pairs(s);
}

/* angle_i = pos base^(-i/n) for i < floor(p n), of n = C/2 pairs; then 0 */
static void angle_row(const void *config, const double *pos, double *out, int64_t n)
{
    const struct config *k = config;
    int64_t most = turning(k, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = i < most ? pos[0] * pow(k->base, -(double)i / (double)n) : 0;
}

/* [cos angle | sin angle] */
static void turn_row(const void *config, const double *pos, double *out, int64_t C)
{
    angle_row(config, pos, out, C / 2);
    rotation_waves(out, C / 2);
}

/* Cosines and sines of the queries, then of the keys. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    int64_t n = c->dims.C / 2;
    rotation_turns(c, c->q, n, turn_row, shared);
    rotation_turns(c, c->k, n, turn_row, shared + 2);
    peat_probe(c, "angle", peat_rows(c, c->q, n, angle_row));
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_layout layout = (peat_layout)((const struct config *)c->config)->layout;
    io->q = peat_turned(c, io->q, c->shared[0], c->shared[1], layout);
    io->k = peat_turned(c, io->k, c->shared[2], c->shared[3], layout);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "p_rope", "1.0",
            "rotary whose slowest pairs stand still", "MIT", "arXiv:2410.06205")
