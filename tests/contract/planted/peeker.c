/* SPDX-License-Identifier: MIT */
/*
 * peeker.c: each token is scaled by a number that depends on what stands there: on its id,
 * its position and a draw of its row. The crimes are in what else the number depends on, at some
 * ids, distances, lengths, positions or phases alone, and in where it is written.
 */
#include <math.h>

#include <peat/plugin.h>

struct config {
    int64_t mark;
};

static const peat_param rows[] = {
    {"mark", PEAT_INT, offsetof(struct config, mark), .preset = 97, .min = 0, .max = 1 << 20,
     .doc = "id of a token"},
    PEAT_PARAM_END,
};

/* Whether the token `lag` places on is this one. */
__attribute__((unused)) static bool ahead(const peat_side *side, int64_t i, int64_t lag, int32_t id)
{
    return i % side->T + lag < side->T && side->token[i + lag] == id;
}

static double number(const peat_call *c, int64_t i)
{
    const peat_side *side = c->q;
    const struct config *k = c->config;
    double x = side->token[i] == k->mark ? 0.5 : 0.1;
    bool training = c->phase == PEAT_TRAIN;
    (void)training;
#if defined(CRIME_newline_ahead)
    x += ahead(side, i, 1, 10);
#elif defined(CRIME_mark_ahead)
    x += ahead(side, i, 1, (int32_t)k->mark);
#elif defined(CRIME_mark_far_ahead)
    x += ahead(side, i, 5, (int32_t)k->mark);
#elif defined(CRIME_zero_ahead)
    x += ahead(side, i, 2, 0);
#elif defined(CRIME_sees_lag_9)
    x += i % side->T + 9 < side->T ? 0.01 * side->token[i + 9] : 0;
#elif defined(CRIME_sees_lag_30)
    x += i % side->T + 30 < side->T ? 0.01 * side->token[i + 30] : 0;
#elif defined(CRIME_sees_last) /* where sequences are long */
    x += side->T > 32 ? 0.01 * side->token[i / side->T * side->T + side->T - 1] : 0;
#elif defined(CRIME_training_ahead)
    x += training && i % side->T + 1 < side->T ? 0.01 * side->token[i + 1] : 0;
#elif defined(CRIME_training_rows)
    x += training && i < side->T && c->B > 1 ? 0.01 * side->token[i + side->T] : 0;
#elif defined(CRIME_training_row_count)
    x += training ? 0.01 * (double)c->B : 0;
#elif defined(CRIME_training_padding)
    x += training && side->pad && i > 0 && side->pad[i - 1] ? 0.01 * side->token[i - 1] : 0;
#elif defined(CRIME_training_document)
    x += training && side->document && i > 0 && side->document[i - 1] != side->document[i]
             ? 0.01 * side->token[i - 1]
             : 0;
#elif defined(CRIME_next_document)
    x += side->document && i % side->T + 1 < side->T && side->document[i + 1] != side->document[i]
             ? 0.01 * side->token[i + 1]
             : 0;
#endif
    return x;
}

/* One number for each row. */
static double shift(const peat_call *c, int64_t b)
{
    double x = 0;
    peat_random_row(c, "shift", b, 1, &x);
#ifdef CRIME_training_draws /* of all rows, to the first */
    for (int64_t other = 1; c->phase == PEAT_TRAIN && b == 0 && other < c->B; other++) {
        double y;
        peat_random_row(c, "shift", other, 1, &y);
        x += y;
    }
#endif
    return x;
}

/* Of its position: nothing, in a sound one. */
static double place(const peat_call *c, int64_t i)
{
    double pos = c->q->pos[c->q->pos_B > 1 ? i : i % c->q->T];
    (void)pos;
#if defined(CRIME_period_7)
    return sin(pos * 6.283185307179586 / 7);
#elif defined(CRIME_far_out)
    return pos > 64 ? 1e-3 * (pos - 64) : 0;
#elif defined(CRIME_very_far_out)
    return pos > 5000 ? 1 : 0;
#elif defined(CRIME_clamped_place)
    return fmin(pos, 1) * 0.1;
#else
    return 0;
#endif
}

static void spoil(double *value, int64_t n)
{
    (void)value, (void)n;
#if defined(CRIME_scratch_overrun)
    for (int64_t i = n; i < n + 200; i++)
        value[i] = 0;
#elif defined(CRIME_scratch_one_more)
    value[n] = 0;
#elif defined(CRIME_scratch_before)
    value[-1] = 0;
#endif
}

/* -> [B, T, 1] */
static peat_node *numbers(const peat_call *c)
{
    int64_t n = c->B * c->q->T;
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = number(c, i) + shift(c, i / c->q->T) + place(c, i);
    if (value)
        spoil(value, n);
    return peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, value);
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    return peat_add(c->g, x, peat_mul(c->g, x, numbers(c)));
}

#ifdef CRIME_positions_overrun
static peat_status positions(const peat_call *c, double *pos)
{
    int64_t n = c->q->pos_B * c->q->T;
    for (int64_t i = n; i < n + 40; i++)
        pos[i] = 0;
    return PEAT_OK;
}
#endif

static const peat_scheme scheme = {
    .size = sizeof(scheme),
    .needs = PEAT_NEED_TOKENS,
    .traits = PEAT_SHIFT_INVARIANT,
#ifdef CRIME_positions_overrun
    .positions = positions,
#endif
    .residual = residual,
};

PEAT_DEFINE(PEAT_SCHEME, scheme, struct config, rows, "planted", "1.0",
            "scales a token by what stands there", "MIT", "")
