/* SPDX-License-Identifier: MIT */
/* neighbours.h: what stands beside a token, within its document. */
#ifndef SCHEME_NEIGHBOURS_H
#define SCHEME_NEIGHBOURS_H

#include <peat/plugin.h>

/* 1 where token t - s is of the same document as t and no padding: [B, T, 1]. */
static inline peat_node *neighbour_counts(const peat_call *c, int64_t s)
{
    const peat_side *q = c->q;
    double *keep = peat_scratch(c, c->B * q->T);
    for (int64_t i = 0; keep && i < c->B * q->T; i++) {
        int64_t t = i % q->T - s, from = i - s;
        keep[i] = t >= 0 && t < q->T && !(q->pad && q->pad[from]) &&
                  !(q->document && q->document[from] != q->document[i]);
    }
    return peat_fill(c, 3, (int64_t[]){c->B, q->T, 1}, keep);
}

/* x [B,T,n] -> row t is x at t - s, 0 where there is none in the document. */
static inline peat_node *neighbour(const peat_call *c, peat_node *x, int64_t s)
{
    int64_t before = s > 0 ? s : 0, after = s < 0 ? -s : 0;
    if (s != 0)
        x = peat_slice(c->g, peat_pad(c->g, x, 1, before, after), 1, after, after + c->q->T);
    if (c->q->document || c->q->pad)
        x = peat_mul(c->g, x, neighbour_counts(c, s));
    return x;
}

/* y_t = sum over i < kernel of taps_i * x_{t-i} within the document; x [B,T,n], taps [kernel, n].
 */
static inline peat_node *neighbour_mix(const peat_call *c, peat_node *x, int64_t kernel,
                                       peat_node *taps)
{
    peat_node *y = NULL;
    for (int64_t i = 0; i < kernel; i++) {
        peat_node *tap = peat_slice(c->g, taps, 0, i, i + 1);
        peat_node *part = peat_mul(c->g, neighbour(c, x, i), tap);
        y = i == 0 ? part : peat_add(c->g, y, part);
    }
    return y;
}

#endif
