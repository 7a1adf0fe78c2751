/* SPDX-License-Identifier: MIT */
/*
 * t5_bias.c: a trained logit per head for each bucket of distances, exact for near ones and ever
 * wider for far ones. Raffel et al. 2020, section 2.1.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t buckets, max_distance;
    double init_std;
};

static const peat_param rows[] = {
    {"buckets", PEAT_INT, offsetof(struct config, buckets), .preset = 32, .min = 2, .max = 1 << 16,
     .doc = "classes of distances; an encoder has half of them for each direction"},
    {"max_distance", PEAT_INT, offsetof(struct config, max_distance), .preset = 128, .min = 2,
     .max = 1 << 24, .unit = "tokens", .doc = "from here on all distances share the last bucket"},
    {"init_std", PEAT_REAL, offsetof(struct config, init_std), .preset = 0.02, .min = 0, .max = 1e3,
     .doc = "standard deviation of the initial logits"},
    PEAT_PARAM_END,
};

/* The bucket, of n, of a distance >= 0: itself below n/2 = e, else
 * e + floor((n - e) ln(distance/e) / ln(max_distance/e)), at most n - 1. At powers that fall on a
 * boundary the quotient is whole but for rounding, which the addend outweighs. */
static int64_t side_bucket(double distance, int64_t n, double max_distance)
{
    const double above_rounding = 1e-12;
    int64_t exact = n / 2;
    if (distance < (double)exact)
        return (int64_t)distance;
    double part = log(distance / (double)exact) / log(max_distance / (double)exact);
    double step = floor((double)(n - exact) * part + above_rounding);
    return (int64_t)fmin((double)exact + step, (double)(n - 1));
}

/* Past and future have half of the buckets each; a causal model gives all to the past and 0 to the
 * future, which it never sees. */
static int64_t bucket(const struct config *k, bool causal, double delta)
{
    double far = (double)k->max_distance;
    if (causal)
        return side_bucket(fmax(-delta, 0), k->buckets, far);
    int64_t half = k->buckets / 2;
    return side_bucket(fabs(delta), half, far) + (delta > 0 ? half : 0);
}

static peat_status setup(peat_setup *s, const void *config, void **self)
{
    const struct config *k = config;
    int64_t side = s->dims.causal ? k->buckets : k->buckets / 2;
    (void)self;
    if (!s->dims.causal && (k->buckets % 2 || side < 2))
        return peat_refuse(s, "an encoder halves the buckets: make buckets even and at least 4");
    if (k->max_distance <= side / 2)
        return peat_refuse(s,
                           "max_distance = %lld is not beyond the %lld distances that have buckets "
                           "of their own",
                           (long long)k->max_distance, (long long)(side / 2));
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = k->init_std};
    peat_param_new(s, "table", 2, (int64_t[]){k->buckets, PEAT_HEADS}, init, PEAT_PER_USER, 0);
    return PEAT_OK;
}

/* bias[h, i] = table[bucket(delta_i), h] */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *row = peat_scratch(c, r->n);
    for (int64_t i = 0; row && i < r->n; i++)
        row[i] = (double)bucket(c->config, c->dims.causal, r->delta[i]);
    peat_node *index = peat_fill_index(c, 1, &r->n, row);
    return peat_permute(c->g, peat_gather_rows(c->g, peat_use(c, 0), index), 2, (int32_t[]){1, 0});
}

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .traits = PEAT_STORABLE | PEAT_SHIFT_INVARIANT,
    .setup = setup,
    .bias_rel = bias_rel,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "t5_bias", "1.0",
            "a trained logit for each bucket of distances", "MIT", "arXiv:1910.10683")
PEAT_ALSO_CALLED("t5, t5_relative, relative")
