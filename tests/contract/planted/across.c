/* SPDX-License-Identifier: MIT */
/*
 * across.c: logits fall with the distance of two positions, also across two sequences. The crimes
 * are in which positions are taken.
 */
#include <math.h>

#include <peat/plugin.h>

#ifndef CRIME_across_nothing
static double query_at(const peat_call *c, int64_t b, int64_t i)
{
#ifdef CRIME_across_by_row /* as if the first query were the first of its sequence */
    (void)c;
    (void)b;
    return (double)i;
#else
    return c->q->pos[(c->q->pos_B == 1 ? 0 : b) * c->q->T + i];
#endif
}

static double key_at(const peat_call *c, int64_t b, int64_t j)
{
    return c->k->pos[(c->k->pos_B == 1 ? 0 : b) * c->k->T + j];
}

/* -> [B, 1, Tq, Tk] */
static peat_node *bias(const peat_call *c, const peat_qkv *p)
{
    int64_t Tq = c->q->T, Tk = c->k->T;
    (void)p;
#ifdef CRIME_across_square /* as if both were one sequence */
    Tk = Tq;
#endif
    double *fall = peat_scratch(c, c->B * Tq * Tk);
    for (int64_t n = 0; fall && n < c->B * Tq * Tk; n++) {
        int64_t b = n / (Tq * Tk), i = n / Tk % Tq, j = n % Tk;
        fall[n] = j < c->k->T ? -fabs(query_at(c, b, i) - key_at(c, b, j)) : 0;
    }
    return peat_fill(c, 4, (int64_t[]){c->B, 1, Tq, Tk}, fall);
}

#endif

/* -> [1, T, d]: acts nowhere but at the input */
static peat_node *encode(const peat_call *c)
{
    double *value = peat_scratch(c, c->q->T * c->d);
    for (int64_t i = 0; value && i < c->q->T * c->d; i++)
        value[i] = 0.1 * (double)(i / c->d);
    return peat_fill(c, 3, (int64_t[]){1, c->q->T, c->d}, value);
}

#ifdef CRIME_across_nothing
static const peat_scheme scheme = {.size = sizeof(scheme), .traits = PEAT_ACROSS, .encode = encode};
#elif defined(CRIME_across_by_row)
static const peat_scheme scheme = {
    .size = sizeof(scheme), .traits = PEAT_ACROSS | PEAT_STORABLE, .encode = encode, .bias = bias};
#else
static const peat_scheme scheme = {
    .size = sizeof(scheme), .traits = PEAT_ACROSS, .encode = encode, .bias = bias};
#endif

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "falls with distance", "MIT", "")
