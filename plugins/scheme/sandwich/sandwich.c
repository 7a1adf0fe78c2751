/* SPDX-License-Identifier: MIT */
/*
 * sandwich.c: the logits get the product of two sinusoidal encodings, a function of their distance,
 * weaker from head to head. Chi et al. 2023.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t width;
    double base;
};

static const peat_param rows[] = {
    {"width", PEAT_INT, offsetof(struct config, width), .preset = 128, .min = 2, .max = 1 << 16,
     .doc = "channels of the encodings, half of them sines: the more, the farther a head sees"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    PEAT_PARAM_END,
};

/* sum over i < width/2 of cos(delta base^(-2i/width)) = PE(p) . PE(p + delta) */
static double product(const struct config *k, double delta)
{
    double sum = 0;
    for (int64_t i = 0; i < k->width / 2; i++)
        sum += cos(delta * pow(k->base, -2 * (double)i / (double)k->width));
    return sum;
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t width = ((const struct config *)config)->width;
    (void)self;
    return width % 2 ? peat_refuse(s, "width = %lld must be even: pairs of sine and cosine",
                                   (long long)width)
                     : PEAT_OK;
}

/* bias[h, i] = product(delta_i) H / (8 (h + 1)) */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *bias = peat_scratch(c, c->H * r->n);
    for (int64_t i = 0; bias && i < r->n; i++) {
        double sum = product(c->config, r->delta[i]);
        for (int64_t h = 0; h < c->H; h++)
            bias[h * r->n + i] = sum * (double)c->H / (8 * (double)(h + 1));
    }
    return peat_fill(c, 2, (int64_t[]){c->H, r->n}, bias);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "sandwich", "1.0",
            "logits get the product of two sinusoidal encodings", "MIT", "arXiv:2212.10356")
