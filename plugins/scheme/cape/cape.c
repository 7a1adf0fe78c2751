/* SPDX-License-Identifier: MIT */
/*
 * cape.c: in training positions are continuous: shifted, jittered and stretched at random.
 * Likhomanenko et al. 2021, section 3.2.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    double shift, jitter, stretch;
};

static const peat_param rows[] = {
    {"shift", PEAT_REAL, offsetof(struct config, shift), .preset = 5, .min = 0, .max = 1 << 20,
     .unit = "tokens", .doc = "all positions of a sequence move by up to this, either way"},
    {"jitter", PEAT_REAL, offsetof(struct config, jitter), .preset = 0.5, .min = 0, .max = 1 << 20,
     .unit = "tokens", .doc = "each position moves by up to this on its own; 0.5 keeps the order"},
    {"stretch", PEAT_REAL, offsetof(struct config, stretch), .preset = 1.03, .min = 1,
     .max = 1 << 20,
     .doc = "positions of a sequence are multiplied by one factor from 1/stretch to this"},
    PEAT_PARAM_END,
};

/* A draw from [0, 1) spread over [-most, most). */
static double spread(double u, double most)
{
    return (2 * u - 1) * most;
}

/* p_i becomes (p_i + Delta + epsilon_i) lambda: Delta, epsilon_i and log lambda are uniform. */
static peat_status positions(const peat_call *c, double *pos)
{
    const struct config *k = c->config;
    int64_t T = c->q->T;
    double *u = peat_scratch(c, 2 + T);
    if (c->phase == PEAT_EVAL)
        return PEAT_OK;
    if (!u)
        return PEAT_NOMEM;
    for (int64_t b = 0; b < c->q->pos_B; b++) {
        peat_random_row(c, "positions", b, 2 + T, u);
        double delta = spread(u[0], k->shift), lambda = exp(spread(u[1], log(k->stretch)));
        for (int64_t i = 0; i < T; i++)
            pos[b * T + i] = (pos[b * T + i] + delta + spread(u[2 + i], k->jitter)) * lambda;
    }
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .positions = positions,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "cape", "1.0",
            "positions are shifted, jittered and stretched in training", "MIT", "arXiv:2106.03143")
