/* SPDX-License-Identifier: MIT */
/*
 * slope.c: a bias that falls with distance, by a slope that is a parameter, also across two
 * sequences. The crimes are a length that it did not ask for, positions and distances that only
 * some of them show, and memory that two uses share. slope.py is its formula.
 */
#include <math.h>
#include <stdlib.h>

#include <peat/plugin.h>

struct config {
    double slope;
};

static const peat_param rows[] = {
    {"slope", PEAT_REAL, offsetof(struct config, slope), .preset = 0.3, .min = 0, .max = 9,
     .doc = "of a place"},
    PEAT_PARAM_END,
};

#if defined(CRIME_shares_config) /* a static pointer that never changes, to memory that does */
static const void **kept;

__attribute__((constructor)) static void make(void)
{
    kept = calloc(1, sizeof(*kept));
}
#elif defined(CRIME_keeps_in_its_thread)
static _Thread_local int64_t calls;
#endif

static double slope_of(const peat_call *c)
{
    const struct config *k = c->config;
#if defined(CRIME_shares_config)
    *kept = *kept ? *kept : k;
    k = *kept;
#elif defined(CRIME_keeps_in_its_thread)
    calls++;
#elif defined(CRIME_reads_the_total)
    return k->slope * (1 + log1p((double)c->q->T_total));
#endif
    return k->slope;
}

static double place(const peat_side *side, int64_t b, int64_t t)
{
    double p = side->pos[(side->pos_B > 1 ? b : 0) * side->T + t];
#ifdef CRIME_whole_positions
    p = floor(p);
#endif
    return p;
}

static double value(const peat_call *c, int64_t b, int64_t i, int64_t j)
{
    double d = fabs(place(c->q, b, i) - place(c->k, b, j)), x = slope_of(c) * d / (1 + d);
#if defined(CRIME_sign_when_far)
    return d > 200 ? x : -x;
#elif defined(CRIME_floor_of_the_distance)
    d = floor(d);
    return -slope_of(c) * d / (1 + d);
#elif defined(CRIME_counts_padding)
    if (c->q != c->k)
        x /= (double)c->k->T;
#elif defined(CRIME_counts_padding_in_total)
    if (c->q != c->k)
        x /= (double)c->k->T_total;
#elif defined(CRIME_depends_on_length) /* as it declares: no crime */
    x /= (double)c->q->T_total;
#elif defined(CRIME_sees_padded_sources)
    if (c->q != c->k)
        x *= 1 + 0.1 * (double)(c->k->token[(b + 1) * c->k->T - 1] % 7);
#endif
    return -x;
}

/* -> [B, 1, Tq, Tk] */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    int64_t Tq = c->q->T, Tk = c->k->T, n = c->B * Tq * Tk;
    double *x = peat_scratch(c, n);
    (void)p;
    for (int64_t k = 0; x && k < n; k++)
        x[k] = value(c, k / (Tq * Tk), k / Tk % Tq, k % Tk);
    return peat_fill(c, 4, (int64_t[]){c->B, 1, Tq, Tk}, x);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
#ifdef CRIME_sees_padded_sources
                                   .needs = PEAT_NEED_TOKENS | PEAT_NEED_LENGTH,
#elif defined(CRIME_counts_padding) || defined(CRIME_counts_padding_in_total) ||                   \
    defined(CRIME_depends_on_length)
                                   .needs = PEAT_NEED_LENGTH,
#endif
                                   .traits = PEAT_SHIFT_INVARIANT | PEAT_NO_TRAINABLE | PEAT_ACROSS,
                                   .bias = bias};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0", "falls by a slope", "MIT",
            "")
