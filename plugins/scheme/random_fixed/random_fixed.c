/* SPDX-License-Identifier: MIT */
/* random_fixed.c: a random vector for each position, drawn once and never trained: position without
 * any order. A control that measures the worth of structure in other encodings. */
#include <math.h>

#include <peat/plugin.h>

enum { NORMAL, UNIFORM };

struct config {
    int64_t max_len, distribution;
    double std;
};

static const char *const distributions[] = {"normal", "uniform", NULL};

static const peat_param rows[] = {
    {"max_len", PEAT_INT, offsetof(struct config, max_len), .min = 1, .max = 1 << 24,
     .automatic = "the longest sequence trained or evaluated", .unit = "tokens",
     .doc = "positions that have a vector", .flags = PEAT_AUTO},
    {"distribution", PEAT_ENUM, offsetof(struct config, distribution), .preset = NORMAL,
     .labels = distributions, .doc = "normal, or uniform between -sqrt(3) std and sqrt(3) std"},
    {"std", PEAT_REAL, offsetof(struct config, std), .preset = 0.70710678118654752, .min = 0,
     .max = 1e6, .doc = "standard deviation; the default is that of sines and cosines"},
    PEAT_PARAM_END,
};

struct random_fixed {
    int64_t n; /* positions */
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    struct random_fixed *t = peat_alloc(s, sizeof(*t));
    if (!t)
        return PEAT_NOMEM;
    t->n = k->max_len ? k->max_len : s->dims.T_max;
    if (s->dims.T_max > t->n)
        return peat_refuse(s,
                           "has vectors for max_len = %lld positions, but sequences of %lld are "
                           "evaluated; raise max_len",
                           (long long)t->n, (long long)s->dims.T_max);
    peat_resolved(s, "max_len", (double)t->n);
    double edge = sqrt(3.0) * k->std;
    const peat_init normal = {.kind = PEAT_INIT_NORMAL, .b = k->std};
    const peat_init uniform = {.kind = PEAT_INIT_UNIFORM, .a = -edge, .b = edge};
    peat_param_new(s, "table", 2, (int64_t[]){t->n, s->dims.d},
                   k->distribution == NORMAL ? normal : uniform, PEAT_ONCE, PEAT_FROZEN);
    *self = t;
    return PEAT_OK;
}

static peat_node *encode(const peat_call *c)
{
    const struct random_fixed *t = c->self;
    for (int64_t i = 0; i < c->q->pos_B * c->q->T; i++)
        if (!(c->q->pos[i] >= 0 && c->q->pos[i] < (double)t->n))
            return peat_fail(c->g, "position %g has no vector: max_len is %lld", c->q->pos[i],
                             (long long)t->n);
    peat_node *index = peat_fill_index(c, 2, (int64_t[]){c->q->pos_B, c->q->T}, c->q->pos);
    return peat_gather_rows(c->g, peat_use(c, 0), index);
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_FINITE_LENGTH | PEAT_NO_TRAINABLE,
    .setup = setup,
    .encode = encode,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "random_fixed", "1.0",
            "a random vector for each position, never trained", "MIT", "")
