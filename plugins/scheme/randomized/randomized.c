/* SPDX-License-Identifier: MIT */
/*
 * randomized.c: positions become an ordered random sample of a longer range, so that training meets
 * the positions of sequences it never sees. Ruoss et al. 2023, section 3.
 */
#include <math.h>

#include <peat/plugin.h>

enum { RANDOM, EVEN, PLAIN };

struct config {
    int64_t max, eval;
};

static const char *const evals[] = {"random", "even", "plain", NULL};

static const peat_param rows[] = {
    {"max", PEAT_INT, offsetof(struct config, max), .preset = 2048, .min = 1, .max = 1 << 20,
     .unit = "tokens", .doc = "positions are drawn from 0 .. max-1"},
    {"eval", PEAT_ENUM, offsetof(struct config, eval), .preset = RANDOM, .labels = evals,
     .doc = "in evaluation: drawn too, evenly spread over the range, or left as they are"},
    PEAT_PARAM_END,
};

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    int64_t max = ((const struct config *)config)->max;
    (void)self;
    if (s->dims.T_max > max)
        return peat_refuse(s,
                           "max = %lld positions cannot be shared out over sequences of %lld: "
                           "raise max",
                           (long long)max, (long long)s->dims.T_max);
    return PEAT_OK;
}

/* n different whole numbers below max in rising order, all samples equally likely: Floyd's method
 * needs n numbers `u` from [0, 1). seen [max] is working memory. */
static void draw(const double *u, int64_t n, int64_t max, double *seen, double *sample)
{
    for (int64_t i = 0; i < max; i++)
        seen[i] = 0;
    for (int64_t i = max - n; i < max; i++) {
        int64_t at = (int64_t)(u[i - (max - n)] * (double)(i + 1));
        seen[seen[at] > 0 ? i : at] = 1;
    }
    for (int64_t i = 0; i < max; i++)
        if (seen[i] > 0)
            *sample++ = (double)i;
}

/* The new positions of row b: as many as the whole sequence, answer included, will have. */
static void sample_row(const peat_call *c, int64_t b, double *u, double *seen, double *sample)
{
    const struct config *k = c->config;
    int64_t n = c->q->T_total;
    if (c->phase == PEAT_EVAL && k->eval == EVEN) {
        for (int64_t i = 0; i < n; i++)
            sample[i] = floor(((double)i + 0.5) * (double)k->max / (double)n);
        return;
    }
    peat_random_row(c, "positions", b, n, u);
    draw(u, n, k->max, seen, sample);
}

/* Position p becomes the p-th of its sequence's sample. */
static peat_status positions(const peat_call *c, double *pos)
{
    const struct config *k = c->config;
    int64_t n = c->q->T_total, T = c->q->T;
    if (c->phase == PEAT_EVAL && k->eval == PLAIN)
        return PEAT_OK;
    if (n > k->max) {
        peat_fail(c->g, "max = %lld positions cannot be shared out over a sequence of %lld",
                  (long long)k->max, (long long)n);
        return PEAT_FAILED;
    }
    double *u = peat_scratch(c, n), *seen = peat_scratch(c, k->max), *sample = peat_scratch(c, n);
    if (!u || !seen || !sample)
        return PEAT_NOMEM;
    for (int64_t b = 0; b < c->q->pos_B; b++) {
        sample_row(c, b, u, seen, sample);
        for (int64_t i = b * T; i < (b + 1) * T; i++) {
            if (!(pos[i] >= 0 && pos[i] < (double)n) || pos[i] != floor(pos[i])) {
                peat_fail(c->g, "position %g is not a whole number below %lld", pos[i],
                          (long long)n);
                return PEAT_FAILED;
            }
            pos[i] = sample[(int64_t)pos[i]];
        }
    }
    return PEAT_OK;
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_LENGTH,
    .traits = PEAT_STORABLE | PEAT_FINITE_LENGTH | PEAT_NO_TRAINABLE,
    .setup = setup,
    .positions = positions,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "randomized", "1.1",
            "positions are an ordered random sample of a longer range", "MIT", "arXiv:2305.16843")
