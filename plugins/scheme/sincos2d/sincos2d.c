/* SPDX-License-Identifier: MIT */
/*
 * sincos2d.c: fixed sines and cosines of row and column of a grid read line by line.
 * He et al. 2021 (MAE): the formula of Vaswani et al. 2017 on each axis.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t columns;
    double base;
};

static const peat_param rows[] = {
    {"columns", PEAT_INT, offsetof(struct config, columns), .min = 1, .max = 1 << 20,
     .unit = "tokens", .doc = "width of the grid: tokens of a line", .flags = PEAT_REQUIRED},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* [sin(w_i x) | cos(w_i x)], w_i = base^(-i/n) for i < n */
static void axis(double base, double x, double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        double angle = x * pow(base, -(double)i / (double)n);
        out[i] = sin(angle);
        out[n + i] = cos(angle);
    }
}

/* The row in the first half of the channels, the column in the second. */
static void row(const void *config, const double *pos, double *out, int64_t d)
{
    const struct config *k = config;
    double line = floor(pos[0] / (double)k->columns);
    axis(k->base, line, out, d / 4);
    axis(k->base, pos[0] - line * (double)k->columns, out + d / 2, d / 4);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    (void)config;
    (void)self;
    if (s->dims.d % 4 == 0)
        return PEAT_OK;
    return peat_refuse(s,
                       "a width of %lld does not split into sine and cosine of two axes: make it "
                       "a multiple of 4",
                       (long long)s->dims.d);
}

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

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "sincos2d", "1.0",
            "fixed sines and cosines of row and column of a grid", "MIT", "arXiv:2111.06377")
