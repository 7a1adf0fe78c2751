/* SPDX-License-Identifier: MIT */
/*
 * far.c: a bias that falls with distance, a factor for each dimension of q and k, and a residual
 * stream that it leaves alone. The crimes show in long sequences, late steps, models that were
 * trained for long, far places, deep layers, models for other lengths, some heads, and heads of
 * another width.
 */
#include <math.h>

#include <peat/call.h>
#include <peat/plugin.h>

/* Of the query at place i and the key at place j of row b. */
static double value(const peat_call *c, int64_t b, int64_t i, int64_t j)
{
    int64_t T = c->k->T, of = c->q->pos_B > 1 ? b : 0;
    double d = fabs(c->k->pos[of * T + j] - c->q->pos[of * c->q->T + i]);
    double x = -0.2 * d / (1 + d), last = (double)c->k->token[b * T + T - 1] / 128;
    bool wrong = false;
    (void)last;
#if defined(CRIME_ahead_when_long)
    wrong = T > 64;
#elif defined(CRIME_ahead_late)
    wrong = c->phase == PEAT_TRAIN && c->step >= 500;
#elif defined(CRIME_ahead_when_trained)
    wrong = c->phase == PEAT_EVAL && peat_call_facts_of(c->host)->trained_step(c) >= 50000;
#elif defined(CRIME_nan_when_trained)
    x = peat_call_facts_of(c->host)->trained_step(c) == 1000 ? (double)NAN : x;
#elif defined(CRIME_ahead_from_step_50)
    wrong = c->phase == PEAT_TRAIN && c->step >= 50;
#elif defined(CRIME_rows_from_step_1000)
    if (c->phase == PEAT_TRAIN && c->step >= 1000)
        x -= 0.1 * (double)(c->k->token[(c->B - 1) * T] % 7 * j);
#elif defined(CRIME_ahead_when_far)
    wrong = d > 700;
#elif defined(CRIME_by_layer)
    x += 0.3 * (double)(c->layer * j);
#elif defined(CRIME_by_longest)
    x /= (double)c->dims.T_max;
#elif defined(CRIME_nan_when_far)
    x = d > 700 ? (double)NAN : x;
#endif
    return wrong ? x + 0.1 * last * (double)j : x;
}

static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    int64_t Tq = c->q->T, Tk = c->k->T, n = c->B * Tq * Tk, H = c->H;
    double *x = peat_scratch(c, n), *one = peat_scratch(c, c->dims.H);
    (void)p;
#ifdef CRIME_dims_of_all_heads
    H = c->dims.H;
#endif
    for (int64_t k = 0; x && k < n; k++)
        x[k] = value(c, k / (Tq * Tk), k / Tk % Tq, k % Tk);
    for (int64_t h = 0; one && h < H; h++)
        one[h] = 1 + 0.1 * (double)h;
    return peat_mul(c->g, peat_fill(c, 4, (int64_t[]){c->B, 1, Tq, Tk}, x),
                    peat_fill(c, 4, (int64_t[]){1, H, 1, 1}, one));
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    int64_t C = peat_shape_of(c->g, io->q).dim[3];
#ifdef CRIME_dims_of_the_model
    C = c->dims.C;
#endif
    double *x = peat_scratch(c, C);
    for (int64_t k = 0; x && k < C; k++)
        x[k] = 1 + 0.01 * (double)k;
    io->q = peat_mul(c->g, io->q, peat_fill(c, 4, (int64_t[]){1, 1, 1, C}, x));
    return PEAT_OK;
}

#ifndef CRIME_dims_of_all_heads /* where.heads is refused with this hook */
static peat_node *residual(const peat_call *c, peat_node *x)
{
#ifdef CRIME_ahead_when_deep
    int64_t T = peat_shape_of(c->g, x).dim[1];
    if (c->layer >= 2)
        x = peat_concat(
            c->g, 2,
            (peat_node *[]){peat_slice(c->g, x, 1, T - 1, T), peat_slice(c->g, x, 1, 0, T - 1)}, 1);
#else
    (void)c;
#endif
    return x;
}
#endif

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .needs = PEAT_NEED_TOKENS,
                                   .qkv = qkv,
#ifndef CRIME_dims_of_all_heads
                                   .residual = residual,
#endif
                                   .bias = bias};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "a bias by distance", "MIT", "")
