/* SPDX-License-Identifier: MIT */
/*
 * fope.c: rotary whose cosines and sines are mixtures of all frequencies that training covers; the
 * other pairs stand still. Hua et al. 2024, with the authors' code for sizes and initial values.
 */
#include <math.h>
#include <string.h>

#include <peat/call.h>

#include "../rotation.h"

enum { COSINE, SINE };

struct config {
    double base, gain;
    bool learned;
};

static const peat_param rows[] = {
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength of rotary to the shortest", .flags = PEAT_OPEN_MIN},
    {"gain", PEAT_REAL, offsetof(struct config, gain), .preset = 0.3, .min = 0, .max = 1e3,
     .doc = "size of the random part of the mixtures; the authors: 0.3 to 0.6, more for larger "
            "models"},
    {"learned", PEAT_BOOL, offsetof(struct config, learned), .preset = false,
     .doc = "the mixtures are trained; in the authors' code they keep their initial values"},
    PEAT_PARAM_END,
};

struct fope {
    int64_t n_in, n_out; /* frequencies mixed; pairs that turn */
};

/* The frequencies base^(-i/n) that make a full turn within the longest sequence trained; the
 * fastest always counts. */
static int64_t covered(const struct config *k, int64_t n, int64_t T)
{
    int64_t i = 1;
    while (i < n && pow(k->base, -(double)i / (double)n) * (double)T >= 2 * acos(-1))
        i++;
    return i;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct fope *f = peat_alloc(s, sizeof(*f));
    if (!f)
        return PEAT_NOMEM;
    if (rotation_needs_pairs(s) != PEAT_OK)
        return PEAT_REFUSED;
    f->n_in = covered(k, s->dims.C / 2, s->dims.T_train);
    int64_t most = s->dims.C / 4 > 0 ? s->dims.C / 4 : 1;
    f->n_out = f->n_in < most ? f->n_in : most;
    double fans = (double)(f->n_out * (f->n_in + s->dims.H));
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->gain * sqrt(2 / fans)};
    const int64_t dim[] = {PEAT_HEADS, f->n_in, f->n_out};
    uint32_t use = PEAT_NO_DECAY | (k->learned ? 0 : PEAT_FROZEN);
    peat_param_new(s, "cosine", 3, dim, init, PEAT_PER_USER, use);
    peat_param_new(s, "sine", 3, dim, init, PEAT_PER_USER, use);
    *self = f;
    return PEAT_OK;
}

/* [cos angle | sin angle], angle_i = pos base^(-i/n) for all n = C/2 pairs of rotary */
static void wave_row(const void *config, const double *pos, double *out, int64_t C)
{
    double base = ((const struct config *)config)->base;
    int64_t n = C / 2;
    for (int64_t i = 0; i < n; i++) {
        double angle = pos[0] * pow(base, -(double)i / (double)n);
        out[i] = cos(angle);
        out[n + i] = sin(angle);
    }
}

/* [n_in, n_out] with a 1 in each column: mixture m starts at frequency m ceil(n_in / n_out). */
static peat_node *starts(const peat_call *c, const struct fope *f)
{
    int64_t step = (f->n_in + f->n_out - 1) / f->n_out, n = f->n_in * f->n_out;
    double *one = peat_scratch(c, n);
    for (int64_t i = 0; one && i < n; i++)
        one[i] = i / f->n_out == i % f->n_out * step;
    return peat_fill(c, 2, (int64_t[]){f->n_in, f->n_out}, one);
}

/* y_m = sum over j of (start + a)_jm wave_j, then `still` for the pairs that do not turn:
 * [pos_B, H, T, C/2] */
static peat_node *mixed(const peat_call *c, peat_node *wave, int32_t handle, double still)
{
    const struct fope *f = c->self;
    int64_t rest = c->dims.C / 2 - f->n_out;
    peat_node *a = peat_add(c->g, peat_use(c, handle), starts(c, f));
    peat_node *y = peat_matmul(c->g, peat_slice(c->g, wave, -1, 0, f->n_in), a, 0);
    if (rest == 0)
        return y;
    y = peat_pad(c->g, peat_affine(c->g, y, 1, -still), -1, 0, rest);
    return peat_affine(c->g, y, 1, still);
}

/* The cosines and sines of one side, into out[0] and out[1] */
static void mixtures(const peat_call *c, const peat_side *side, peat_node *out[2])
{
    int64_t C = c->dims.C;
    peat_node *wave = rotation_rows(c, side, C, wave_row);
    out[0] = mixed(c, peat_slice(c->g, wave, -1, 0, C / 2), COSINE, 1);
    out[1] = mixed(c, peat_slice(c->g, wave, -1, C / 2, C), SINE, 0);
}

/* Cosines and sines for the queries, then for the keys */
static void both_mixtures(const peat_call *c, peat_node *out[4])
{
    mixtures(c, c->q, out);
    if (c->k != c->q)
        mixtures(c, c->k, out + 2);
    else
        memcpy(out + 2, out, 2 * sizeof(*out));
}

/* Layers that share the coefficients share the mixtures. */
static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    if (peat_is_shared(c, COSINE))
        both_mixtures(c, shared);
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    peat_node *wave[4];
    memcpy(wave, c->shared, sizeof(wave));
    if (!wave[0])
        both_mixtures(c, wave);
    io->q = peat_turned(c, io->q, wave[0], wave[1], PEAT_HALVES);
    io->k = peat_turned(c, io->k, wave[2], wave[3], PEAT_HALVES);
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE,
    .setup = setup,
    .prepare = prepare,
    .qkv = qkv,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "fope", "1.1",
            "rotary with mixtures of the frequencies that training covers", "MIT",
            "arXiv:2412.17739")
