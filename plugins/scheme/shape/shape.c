/* SPDX-License-Identifier: MIT */
/*
 * shape.c: in training all positions of a sequence are shifted by one random number, so that a
 * scheme of absolute positions learns to rely on differences. Kiyono et al. 2021, section 3.2.
 */
#include <math.h>

#include <peat/plugin.h>

enum { MAX, ZERO, RANDOM };

struct config {
    int64_t max, eval;
};

static const char *const evals[] = {"max", "zero", "random", NULL};

static const peat_param rows[] = {
    {"max", PEAT_INT, offsetof(struct config, max), .preset = 500, .min = 0, .max = 1 << 20,
     .unit = "tokens", .doc = "the shift is drawn from 0 .. max: the paper's K"},
    {"eval", PEAT_ENUM, offsetof(struct config, eval), .preset = MAX, .labels = evals,
     .doc = "the shift in evaluation: max, as in the authors' code, none, or drawn too"},
    PEAT_PARAM_END,
};

static double shift(const peat_call *c, int64_t b)
{
    const struct config *k = c->config;
    double u;
    if (c->phase == PEAT_EVAL && k->eval != RANDOM)
        return k->eval == MAX ? (double)k->max : 0;
    peat_random_row(c, "shift", b, 1, &u);
    return floor(u * (double)(k->max + 1));
}

/* p becomes p + k, one k for each sequence. */
static peat_status positions(const peat_call *c, double *pos)
{
    for (int64_t b = 0; b < c->q->pos_B; b++) {
        double k = shift(c, b);
        for (int64_t i = b * c->q->T; i < (b + 1) * c->q->T; i++)
            pos[i] += k;
    }
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_NO_TRAINABLE,
    .positions = positions,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "shape", "1.0",
            "positions are shifted by a random number for each sequence", "MIT", "arXiv:2109.05644")
