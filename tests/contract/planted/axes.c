/* SPDX-License-Identifier: MIT */
/*
 * axes.c: queries and keys turn by their positions on all axes, and logits fall with the sum of
 * the distances on them. The crimes show with two axes, or across two sequences.
 */
#include <math.h>

#include <peat/plugin.h>

enum { COSINE_Q, SINE_Q, COSINE_K, SINE_K };

static int32_t axes_of(const peat_side *side)
{
    int32_t n = side->n_axes;
#ifdef CRIME_third_axis /* as if data with rows and columns had a depth */
    n = n > 1 ? 3 : n;
#endif
    return n;
}

/* The positions of a side on one axis, [pos_B, T, 1]. */
static peat_node *positions_on(const peat_call *c, const peat_side *side, int64_t axis)
{
    int64_t stride = side->pos_B * side->T;
#ifdef CRIME_stride_of_axis
    stride = side->T;
#endif
    return peat_fill(c, 3, (int64_t[]){side->pos_B, side->T, 1}, side->pos + axis * stride);
}

/* The sum of the angles of each axis, whose frequencies have a base of their own. */
static peat_node *angle(const peat_call *c, const peat_side *side, bool of_keys)
{
    peat_node *sum = NULL;
    (void)of_keys;
    for (int32_t a = 0; a < axes_of(side); a++) {
        int64_t at = a;
#ifdef CRIME_keys_by_other_axis
        at = of_keys && side->n_axes == 2 ? 1 - a : a;
#endif
        peat_node *frequency = peat_frequencies(c, c->dims.C / 2, a ? 30 : 100);
        peat_node *one = peat_angles(c, positions_on(c, side, at), frequency);
        sum = sum ? peat_add(c->g, sum, one) : one;
    }
    return sum;
}

static peat_status prepare(const peat_call *c, peat_node *shared[PEAT_MAX_SHARED])
{
    peat_node *q = angle(c, c->q, false), *k = angle(c, c->k, true);
#ifdef CRIME_keys_as_queries
    k = q;
#endif
    shared[COSINE_Q] = peat_cos(c->g, q);
    shared[SINE_Q] = peat_sin(c->g, q);
    shared[COSINE_K] = peat_cos(c->g, k);
    shared[SINE_K] = peat_sin(c->g, k);
#ifdef CRIME_cosine_of_rows /* the cosine of the first axis with the sine of all */
    peat_node *rows =
        peat_angles(c, positions_on(c, c->k, 0), peat_frequencies(c, c->dims.C / 2, 100));
    shared[COSINE_K] = peat_cos(c->g, rows);
#endif
    return PEAT_OK;
}

static peat_status qkv(const peat_call *c, peat_qkv *io)
{
    if (c->dims.C < 2)
        return PEAT_OK;
    io->q = peat_turned(c, io->q, c->shared[COSINE_Q], c->shared[SINE_Q], PEAT_INTERLEAVED);
    io->k = peat_turned(c, io->k, c->shared[COSINE_K], c->shared[SINE_K], PEAT_INTERLEAVED);
    return PEAT_OK;
}

/* bias[h, i] = -2^-h sum over axes of log(1 + |delta|) */
static peat_node *bias_rel(const peat_call *c, const peat_rel *r)
{
    double *bias = peat_scratch(c, c->H * r->n);
    for (int64_t n = 0; bias && n < c->H * r->n; n++) {
        int64_t h = n / r->n, i = n % r->n;
        bias[n] = 0;
        for (int64_t a = 0; a < r->n_axes; a++) {
            int64_t at = a * r->n + i;
#ifdef CRIME_interleaved_axes
            at = i * r->n_axes + a;
#endif
            bias[n] -= exp2(-(double)h) * log1p(fabs(r->delta[at]));
        }
    }
    return peat_fill(c, 2, (int64_t[]){c->H, r->n}, bias);
}

static const peat_scheme scheme = {.size = sizeof(scheme),
                                   .traits = PEAT_SHIFT_INVARIANT | PEAT_NORM_PRESERVING |
                                             PEAT_NO_TRAINABLE | PEAT_ACROSS | PEAT_STORABLE,
                                   .max_axes = 3,
                                   .prepare = prepare,
                                   .qkv = qkv,
                                   .bias_rel = bias_rel};

PEAT_DEFINE_PLAIN(PEAT_SCHEME, scheme, "planted", "1.0", "turns and falls on all axes", "MIT", "")
