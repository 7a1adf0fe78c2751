/* SPDX-License-Identifier: MIT */
/*
 * sincos2d.c: fixed sines and cosines of row and column.
 * He et al. 2021 (MAE): the formula of Vaswani et al. 2017 on each axis.
 */
#include "../grid.h"

struct config {
    int64_t columns;
    double base;
};

static const peat_param rows[] = {
    GRID_COLUMNS_ROW(struct config),
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
    axis(k->base, pos[0], out, d / 4);
    axis(k->base, pos[1], out + d / 2, d / 4);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    if (s->dims.d % 4 == 0)
        return grid_setup(s, ((const struct config *)config)->columns, self);
    return peat_refuse(s,
                       "a width of %lld does not split into sine and cosine of two axes: make it "
                       "a multiple of 4",
                       (long long)s->dims.d);
}

static peat_node *encode(const peat_call *c)
{
    return grid_rows(c, c->q, c->d, row);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .max_axes = 2,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "sincos2d", "1.0",
            "fixed sines and cosines of row and column", "MIT", "arXiv:2111.06377")
