/* SPDX-License-Identifier: MIT */
/*
 * sinusoidal.c: fixed sines and cosines of geometrically spaced frequencies.
 * Vaswani et al. 2017, section 3.5; the form of the tensor2tensor library beside it.
 */
#include <math.h>

#include <peat/plugin.h>

enum { INTERLEAVED, HALVES };
enum { PAPER, TENSOR2TENSOR };

struct config {
    int64_t layout, frequencies;
    double base, scale;
};

static const char *const layouts[] = {"interleaved", "halves", NULL};
static const char *const spacings[] = {"paper", "tensor2tensor", NULL};

static const peat_param rows[] = {
    {"layout", PEAT_ENUM, offsetof(struct config, layout), .preset = INTERLEAVED, .labels = layouts,
     .doc = "sin, cos, sin, cos, ... or all sines before all cosines"},
    {"frequencies", PEAT_ENUM, offsetof(struct config, frequencies), .preset = PAPER,
     .labels = spacings, .doc = "base^(-2i/d), or base^(-i/(d/2-1)), which reaches 1/base exactly"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    {"scale", PEAT_REAL, offsetof(struct config, scale), .preset = 1, .min = -1e6, .max = 1e6,
     .doc = "fixed factor on every value"},
    PEAT_PARAM_END,
};

/* Pair i of d/2: sin(w_i p) and cos(w_i p); the last channel of an odd d is 0. */
static void row(const void *config, const double *pos, double *out, int64_t d)
{
    const struct config *k = config;
    int64_t n = d / 2;
    double span = k->frequencies == PAPER ? (double)d / 2 : fmax((double)n - 1, 1);
    out[d - 1] = 0;
    for (int64_t i = 0; i < n; i++) {
        double angle = pos[0] * pow(k->base, -(double)i / span);
        out[k->layout == HALVES ? i : 2 * i] = k->scale * sin(angle);
        out[k->layout == HALVES ? n + i : 2 * i + 1] = k->scale * cos(angle);
    }
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    return s->dims.d == 1 ? peat_refuse(s, "a width of 1 holds no pair of sine and cosine")
                          : PEAT_OK;
}

static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "sinusoidal", "1.0",
            "fixed sines and cosines of geometric frequencies", "MIT", "arXiv:1706.03762")
PEAT_ALSO_CALLED("sin, sinus, sinusoid, sinusoids, vaswani")
