/* SPDX-License-Identifier: MIT */
/*
 * fourier.c: sines and cosines of trained frequencies, seen through a small network.
 * Li et al. 2021, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

enum { GEOMETRIC, NORMAL };
enum { FREQUENCY, W1, B1, W2, B2 };

struct config {
    int64_t features, hidden, frequencies;
    double base, gamma;
};

static const char *const starts[] = {"geometric", "normal", NULL};

static const peat_param rows[] = {
    {"features", PEAT_INT, offsetof(struct config, features), .min = 2, .max = 1 << 16,
     .automatic = "the width of the stream, or one less when that is odd",
     .doc = "cosines and sines together; even", .flags = PEAT_AUTO},
    {"hidden", PEAT_INT, offsetof(struct config, hidden), .preset = 32, .min = 0, .max = 1 << 16,
     .doc = "units of the network's hidden layer; 0: no network, the stream is the features"},
    {"frequencies", PEAT_ENUM, offsetof(struct config, frequencies), .preset = GEOMETRIC,
     .labels = starts, .doc = "start: base^(-2i/features), or normal with deviation 1/gamma"},
    {"base", PEAT_REAL, offsetof(struct config, base), .preset = 1e4, .min = 1, .max = 1e12,
     .doc = "geometric: ratio of the longest wavelength to the shortest", .flags = PEAT_OPEN_MIN},
    {"gamma", PEAT_REAL, offsetof(struct config, gamma), .preset = 10, .min = 1e-6, .max = 1e9,
     .unit = "tokens per radian", .doc = "normal: one over the deviation of the frequencies"},
    PEAT_PARAM_END,
};

struct fourier {
    int64_t n; /* frequencies: half of the features */
};

static peat_init first_frequencies(peat_setup *s, const struct config *k, int64_t n)
{
    if (k->frequencies == NORMAL)
        return (peat_init){.kind = PEAT_INIT_NORMAL, .b = 1 / k->gamma};
    double *value = peat_alloc(s, (size_t)n * sizeof(*value));
    for (int64_t i = 0; value && i < n; i++)
        value[i] = pow(k->base, -(double)i / (double)n);
    return (peat_init){.kind = PEAT_INIT_VALUES, .values = value};
}

/* A layer's weight [in, out] and shift [out] start uniform in +-1/sqrt(in). */
static void add_layer(peat_setup *s, const char *weight, const char *shift, int64_t in, int64_t out)
{
    double r = 1 / sqrt((double)in);
    peat_init init = {.kind = PEAT_INIT_UNIFORM, .a = -r, .b = r};
    peat_param_new(s, weight, 2, (int64_t[]){in, out}, init, PEAT_ONCE, 0);
    peat_param_new(s, shift, 1, &out, init, PEAT_ONCE, PEAT_NO_DECAY);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t features = k->features ? k->features : s->dims.d - s->dims.d % 2;
    struct fourier *f = peat_alloc(s, sizeof(*f));
    if (!f)
        return PEAT_NOMEM;
    if (features % 2 || features == 0)
        return peat_refuse(s, "features = %lld must be even: pairs of cosine and sine",
                           (long long)features);
    if (k->hidden == 0 && features != s->dims.d)
        return peat_refuse(s,
                           "without a network the stream is the features: make features its "
                           "width, %lld, which must be even, or hidden above 0",
                           (long long)s->dims.d);
    f->n = features / 2;
    peat_init init = first_frequencies(s, k, f->n);
    if (init.kind == PEAT_INIT_VALUES && !init.values)
        return PEAT_NOMEM;
    peat_resolved(s, "features", (double)features);
    peat_param_new(s, "frequency", 1, &f->n, init, PEAT_ONCE, PEAT_NO_DECAY);
    if (k->hidden > 0) {
        add_layer(s, "w1", "b1", features, k->hidden);
        add_layer(s, "w2", "b2", k->hidden, s->dims.d);
    }
    *self = f;
    return PEAT_OK;
}

/* [cos p w | sin p w]: [pos_B, T, features] */
static peat_node *waves(const peat_call *c)
{
    peat_node *p =
        peat_reshape(c->g, peat_pos(c, c->q, 0), 3, (int64_t[]){c->q->pos_B, c->q->T, 1});
    peat_node *angle = peat_mul(c->g, p, peat_use(c, FREQUENCY));
    return peat_concat(c->g, 2, (peat_node *[]){peat_cos(c->g, angle), peat_sin(c->g, angle)}, -1);
}

/* gelu(r w1 + b1) w2 + b2, r = waves / sqrt(features) */
static peat_node *encode(const peat_call *c)
{
    const struct fourier *f = c->self;
    peat_node *r = waves(c);
    if (((const struct config *)c->config)->hidden == 0)
        return r;
    r = peat_scale(c->g, r, 1 / sqrt(2 * (double)f->n));
    r = peat_add(c->g, peat_matmul(c->g, r, peat_use(c, W1), 0), peat_use(c, B1));
    r = peat_matmul(c->g, peat_gelu(c->g, r), peat_use(c, W2), 0);
    return peat_add(c->g, r, peat_use(c, B2));
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "fourier", "1.0",
            "sines and cosines of trained frequencies", "MIT", "arXiv:2106.02795")
