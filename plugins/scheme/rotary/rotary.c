/* SPDX-License-Identifier: MIT */
/*
 * rotary.c: pairs of query and key dimensions turn by an angle proportional to position, so that
 * their product depends on the distance alone. Su et al. 2021, section 3.2.2.
 */
#include <math.h>

#include "../rotation.h"

struct config {
    int64_t layout; /* peat_layout */
    double fraction, base;
};

static const peat_param rows[] = {
    ROTATION_LAYOUT_ROW(struct config),
    {"fraction", PEAT_REAL, offsetof(struct config, fraction), .preset = 1, .min = 0, .max = 1,
     .doc = "part of each head that turns: its first 2*floor(fraction*C/2) dimensions",
     .flags = PEAT_OPEN_MIN},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* Dimensions of a head of width C that turn; 0 with *why saying why there are none. */
static int64_t turning(const struct config *k, int64_t C, const char **why)
{
    int64_t d = 2 * (int64_t)(k->fraction * (double)C / 2);
    *why = d == 0 ? "lower model.n_head or raise fraction" : NULL;
    if (k->fraction >= 1 && d != C)
        *why = "make model.d_model / model.n_head even, or set fraction below 1";
    return *why ? 0 : d;
}

/* angle_i = pos base^(-i/n) for the n = C_rot/2 pairs */
static void angle_row(const void *config, const double *pos, double *out, int64_t n)
{
    const struct config *k = config;
    for (int64_t i = 0; i < n; i++)
        out[i] = pos[0] * pow(k->base, -(double)i / (double)n);
}

/* [cos angle | sin angle] */
static void turn_row(const void *config, const double *pos, double *out, int64_t d)
{
    angle_row(config, pos, out, d / 2);
    rotation_waves(out, d / 2);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const char *why;
    (void)self;
    if (turning(config, s->dims.C, &why))
        return PEAT_OK;
    return peat_refuse(s, "a head width of %lld does not split into pairs that turn: %s",
                       (long long)s->dims.C, why);
}

/* Cosines and sines of the queries, then those of the keys. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    const char *why;
    int64_t d = turning(c->config, c->dims.C, &why);
    rotation_turns(c, c->q, d / 2, turn_row, shared);
    rotation_turns(c, c->k, d / 2, turn_row, shared + 2);
    peat_probe(c, "angle", peat_rows(c, c->q, d / 2, angle_row));
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
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_NO_TRAINABLE |
              PEAT_ACROSS,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "rotary", "1.0",
            "queries and keys turn with position", "MIT", "arXiv:2104.09864")
PEAT_ALSO_CALLED("rope, roformer")
