/* SPDX-License-Identifier: MIT */
/*
 * roper.c: values are rotated by their position, and their weighted sum is rotated back by the
 * query's position, so that a value arrives rotated by the distance. LabML 2022 (RoPER); the
 * rotation of Su et al. 2021.
 */
#include <math.h>

#include "../rotation.h"

enum { COS_Q, SIN_Q, COS_K, SIN_K, BACK_Q };

struct config {
    int64_t layout; /* peat_layout */
    bool scores;
    double base;
};

static const peat_param rows[] = {
    ROTATION_LAYOUT_ROW(struct config),
    {"scores", PEAT_BOOL, offsetof(struct config, scores), .preset = true,
     .doc = "queries and keys turn too, as in rotary; false: values alone"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t C = s->dims.D / s->dims.H;
    (void)config;
    (void)self;
    if (s->dims.C != C)
        return peat_refuse(s, "where.dims narrows q and k alone, and values turn whole");
    if (C % 2 != 0)
        return peat_refuse(s,
                           "a head width of %lld does not split into pairs that turn: make "
                           "model.d_model / model.n_head even",
                           (long long)C);
    return PEAT_OK;
}

/* [cos angle | sin angle], angle_i = pos base^(-i/n) for the n = C/2 pairs */
static void turn_row(const void *config, const double *pos, double *out, int64_t C)
{
    double base = ((const struct config *)config)->base;
    int64_t n = C / 2;
    for (int64_t i = 0; i < n; i++)
        out[i] = pos[0] * pow(base, -(double)i / (double)n);
    rotation_waves(out, n);
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    rotation_turns(c, c->q, c->dims.C / 2, turn_row, shared + COS_Q);
    rotation_turns(c, c->k, c->dims.C / 2, turn_row, shared + COS_K);
    shared[BACK_Q] = peat_scale(c->g, shared[SIN_Q], -1);
    return PEAT_OK;
}

static peat_node *turned(const peat_call *c, peat_node *x, int cosine, int sine)
{
    peat_layout layout = (peat_layout)((const struct config *)c->config)->layout;
    return peat_turned(c, x, c->shared[cosine], c->shared[sine], layout);
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    io->v = turned(c, io->v, COS_K, SIN_K);
    if (!((const struct config *)c->config)->scores)
        return PEAT_OK;
    io->q = turned(c, io->q, COS_Q, SIN_Q);
    io->k = turned(c, io->k, COS_K, SIN_K);
    return PEAT_OK;
}

/* R(-i) sum over j of W_ij R(j) v_j = sum of W_ij R(j - i) v_j */
static peat_node *context(const peat_call *c, const peat_qkv *p, peat_node *o, peat_node *W)
{
    (void)p;
    (void)W;
    return turned(c, o, COS_Q, BACK_Q);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING | PEAT_NO_TRAINABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
    .context = context,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "roper", "1.0",
            "values arrive turned by their distance", "MIT",
            "https://nn.labml.ai/transformers/rope/value_pe/index.html")
