/* SPDX-License-Identifier: MIT */
/*
 * settings.c: a stream of sines with given phases, and at the start of a block a part of a place
 * before. The crimes show under a value of a parameter that its row allows.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t pairs, period, dilation;
    peat_reals phases;
    bool trained;
};

static const peat_param rows[] = {
    {"pairs", PEAT_INT, offsetof(struct config, pairs), .preset = 4, .min = 1, .max = 64,
     .doc = "different frequencies"},
    {"period", PEAT_INT, offsetof(struct config, period), .preset = 10000, .min = 1,
     .max = INT64_C(1) << 40, .unit = "tokens", .doc = "positions repeat after it"},
    {"dilation", PEAT_INT, offsetof(struct config, dilation), .preset = 1, .min = 1, .max = 8,
     .unit = "tokens", .doc = "how far before a place the other one is"},
    {"phases", PEAT_REALS, offsetof(struct config, phases), .unit = "degrees", .min = -360,
     .max = 360, .doc = "the phase of the first channel, and what each channel adds"},
    {"trained", PEAT_BOOL, offsetof(struct config, trained), .preset = false,
     .doc = "train how much of the other place is taken"},
    PEAT_PARAM_END,
};

enum { PART };

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    const peat_init third = {.kind = PEAT_INIT_CONSTANT, .a = 0.3};
    (void)self;
    if (k->phases.n > 2)
        return peat_refuse(s, "phases has %lld numbers: two are the most", (long long)k->phases.n);
    if (k->trained)
        peat_param_new(s, "part", 1, &s->dims.D, third, PEAT_ONCE, 0);
#ifdef CRIME_radians_in_place
    for (int64_t i = 0; i < k->phases.n; i++)
        ((double *)(uintptr_t)k->phases.item)[i] *= acos(-1) / 180;
#endif
    return PEAT_OK;
}

static double phase(const struct config *k, int64_t i)
{
    double degree = acos(-1) / 180;
#ifdef CRIME_radians_in_place
    degree = 1;
#elif defined(CRIME_second_phase) /* a list has two numbers, or none */
    return k->phases.n ? degree * (k->phases.item[0] + (double)i * k->phases.item[1]) : 0;
#endif
    double first = k->phases.n > 0 ? k->phases.item[0] : 0;
    double more = k->phases.n > 1 ? k->phases.item[1] : 0;
    return degree * (first + (double)i * more);
}

static void row(const void *config, const double *pos, double *out, int64_t d)
{
    const struct config *k = config;
#ifdef CRIME_narrow_period
    int period = (int)k->period;
#else
    double period = (double)k->period;
#endif
    double p = fmod(pos[0], period);
    for (int64_t i = 0; i < d; i++) {
        double at = (double)(i % k->pairs);
        at /= fmax((double)(k->pairs - 1), 1);
        out[i] = sin(p * pow(100, -at) + phase(k, i));
    }
}

static peat_node *encode(const peat_call *c)
{
    return peat_rows(c, c->q, c->d, row);
}

/* 1 where the place `dilation` before is of the same document and no padding: [B, T, 1] */
static peat_node *counts(const peat_call *c, int64_t dilation)
{
    const peat_side *q = c->q;
    double *keep = peat_scratch(c, c->B * q->T);
    for (int64_t i = 0; keep && i < c->B * q->T; i++) {
        int64_t from = i - dilation;
        keep[i] = i % q->T >= dilation && !(q->pad && q->pad[from]) &&
                  !(q->document && q->document[from] != q->document[i]);
    }
    return peat_fill(c, 3, (int64_t[]){c->B, q->T, 1}, keep);
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    const struct config *k = c->config;
    peat_node *before = peat_slice(c->g, peat_pad(c->g, x, 1, k->dilation, 0), 1, 0, c->q->T);
    before = peat_mul(c->g, before, counts(c, k->dilation));
    before = k->trained ? peat_mul(c->g, before, peat_use(c, PART)) : peat_scale(c->g, before, 0.3);
    return peat_add(c->g, x, before);
}

static int64_t reach(const void *config)
{
#ifdef CRIME_reach_of_one
    (void)config;
    return 1;
#else
    return ((const struct config *)config)->dilation;
#endif
}

static const peat_scheme scheme = {.size = sizeof(scheme),
#ifdef CRIME_untrained_by_default
                                   .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
#else
                                   .traits = PEAT_STORABLE,
#endif
                                   .setup = setup,
                                   .encode = encode,
                                   .residual = residual,
                                   .reach = reach};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0",
            "sines with phases, and a part of a place before", "MIT", "")
