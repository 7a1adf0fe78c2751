/* SPDX-License-Identifier: MIT */
/*
 * tape.c: sines and cosines whose frequencies fit the length and the width (tAPE).
 * Foumani et al. 2024.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t length;
    double base, scale;
};

static const peat_param rows[] = {
    {"length", PEAT_INT, offsetof(struct config, length), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained", .unit = "tokens",
     .doc = "L: frequencies are those of the sinusoid times d/L", .flags = PEAT_AUTO},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .preset = 1, .min = -1e6, .max = 1e6,
     .doc = "fixed factor on every value"},
    PEAT_PARAM_END,
};

struct tape {
    double by; /* d/L */
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct tape *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    if (s->dims.d == 1)
        return peat_refuse(s, "a width of 1 holds no pair of sine and cosine");
    int64_t length = k->length ? k->length : s->dims.T_train;
    t->by = (double)s->dims.d / (double)length;
    peat_resolved(s, "length", (double)length);
    *self = t;
    return PEAT_OK;
}

/* Channels 2i, 2i+1: sin(w_i p), cos(w_i p), w_i = base^(-2i/d); the last of an odd d is 0. */
static void row(const void *config, const double *pos, double *out, int64_t d)
{
    const struct config *k = config;
    out[d - 1] = 0;
    for (int64_t i = 0; i + 1 < d; i += 2) {
        double angle = pos[0] * pow(k->base, -(double)i / (double)d);
        out[i] = k->scale * sin(angle);
        out[i + 1] = k->scale * cos(angle);
    }
}

/* Frequencies times d/L are the same as positions times d/L. */
static peat_node *encode(const peat_call *c)
{
    double by = ((const struct tape *)c->self)->by;
    peat_side side = *c->q;
    double *pos = peat_scratch(c, side.pos_B * side.T);
    if (!pos)
        return peat_fail(c->g, "no memory for positions");
    for (int64_t i = 0; i < side.pos_B * side.T; i++)
        pos[i] = by * side.pos[i];
    side.pos = pos;
    side.n_axes = 1;
    return peat_rows(c, &side, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "tape", "1.0",
            "sines and cosines fitted to length and width", "MIT", "arXiv:2305.16642")
