/* SPDX-License-Identifier: MIT */
/* my_scheme.c: a template: a stream of sines. */
#include <math.h>

#include <peat/plugin.h>

struct config {
    double base;
};

static const peat_param rows[] = {
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* Called before training: register tensors with peat_param_new, refuse with peat_refuse. */
static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    if (s->dims.d < 2)
        return peat_refuse(s, "a width of %lld is too small", (long long)s->dims.d);
    return PEAT_OK;
}

/* P[p, i] = sin(p base^(-i/d)); must return a value for any position. */
static void row(const void *config, const double *pos, double *out, int64_t d)
{
    const struct config *k = config;
    for (int64_t i = 0; i < d; i++)
        out[i] = sin(pos[0] * pow(k->base, -(double)i / (double)d));
}

/* -> [1|B, T, d] */
static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_NO_TRAINABLE,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "my_scheme", "0.1", "sines", "MIT", "")
