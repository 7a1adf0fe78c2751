/* SPDX-License-Identifier: MIT */
/*
 * neighbour.c: the previous token is added to each, unless it is padding or of another document.
 * The crimes are in which places are seen.
 */
#include <peat/plugin.h>

/* Whether the token at i has one before it that may be seen. */
static bool allowed(const peat_side *side, int64_t i)
{
    if (i % side->T == 0)
        return false;
#ifndef CRIME_sees_padding
    if (side->pad && side->pad[i - 1])
        return false;
#endif
#ifndef CRIME_sees_document
    if (side->document && side->document[i - 1] != side->document[i])
        return false;
#endif
    return true;
}

/* -> [B, T, 1] */
static peat_node *mask(const peat_call *c)
{
    int64_t n = c->B * c->q->T;
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = allowed(c->q, i);
    return peat_fill(c, 3, (int64_t[]){c->B, c->q->T, 1}, value);
}

static peat_node *residual(const peat_call *c, peat_node *x)
{
    int64_t T = c->q->T;
    if (T == 1)
        return x;
#if defined(CRIME_sees_future)
    return peat_add(c->g, x, peat_pad(c->g, peat_slice(c->g, x, 1, 1, T), 1, 0, 1));
#elif defined(CRIME_sees_batch)
    return peat_sub(c->g, x, peat_scale(c->g, peat_mean(c->g, x, 0), 0.5));
#elif defined(CRIME_sees_length)
    peat_node *pos = peat_reshape(c->g, peat_pos(c, c->q, 0), 3, (int64_t[]){c->q->pos_B, T, 1});
    return peat_mul(c->g, x, peat_affine(c->g, peat_scale(c->g, pos, 1 / (double)T), 1, 1));
#endif
    peat_node *before = peat_pad(c->g, peat_slice(c->g, x, 1, 0, T - 1), 1, 1, 0);
    return peat_add(c->g, x, peat_mul(c->g, before, mask(c)));
}

#ifdef CRIME_stores_no_neighbour /* says so and does not say how far it reaches */
static const peat_scheme scheme = {
    .size = sizeof(scheme), .traits = PEAT_STORABLE, .residual = residual};
#else
static const peat_scheme scheme = {.size = sizeof(scheme), .residual = residual};
#endif

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "adds the token before", "MIT", "")
