/* SPDX-License-Identifier: MIT */
/*
 * positions.h: common computations with positions, composed of operations and the host's services.
 *
 * Positions that are data are fields of a side (the hooks positions and own_positions): peat_rows,
 * peat_pos, peat_delta and bias_rel read them. Positions that are trained or computed by the model
 * are nodes p [1|B, T, H] or [1|B, T, 1], with a gradient: the functions here rotate heads by them,
 * compute sines and cosines of them and subtract them from each other. All [graph] except
 * peat_starts [any] and peat_mark_ids [setup]. Nodes belong to the graph; a function returns NULL
 * after an error, which the graph keeps (ops.h).
 */
#ifndef PEAT_POSITIONS_H
#define PEAT_POSITIONS_H

#include <math.h>

#include <peat/host.h>
#include <peat/param.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- positions that are data ---- */

/* [any] True when element i = b T + t of a side's [B,T] arrays begins a sequence: it is the first
 * of its row or of its document, or follows padding. */
static inline bool peat_starts(const peat_side *side, int64_t i)
{
    return i % side->T == 0 || (side->document && side->document[i] != side->document[i - 1]) ||
           (side->pad && side->pad[i - 1]);
}

/* Positions of one axis as I32 [pos_B, T], for peat_gather_rows; they must be whole numbers. */
static inline peat_node *peat_pos_index(const peat_call *c, const peat_side *side, int32_t axis)
{
    const int64_t dim[2] = {side->pos_B, side->T};
    return peat_fill_index(c, 2, dim, side->pos + axis * side->pos_B * side->T);
}

/* [setup] Marks token ids for a scheme with PEAT_NEED_TOKENS: *out [V + 1] is true at the ids in
 * `given`, or at preset [n] where `given` is empty. The id V of the model's class token stays
 * false. *out lives as long as the model. Errors: PEAT_REFUSED with "`what` 7 is not one of the 5
 * token ids of the task: name `ask`"; PEAT_NOMEM. */
static inline peat_status peat_mark_ids(peat_setup *s, const char *what, const char *ask,
                                        peat_reals given, int64_t n, const double *preset,
                                        const bool **out)
{
    bool *mark = (bool *)peat_alloc(s, (size_t)(s->dims.V + 1) * sizeof(*mark));
    const double *id = given.n ? given.item : preset;
    *out = mark;
    for (int64_t i = 0; mark && i < (given.n ? given.n : n); i++) {
        if (id[i] != floor(id[i]) || id[i] < 0 || id[i] >= (double)s->dims.V)
            return peat_refuse(s, "%s %g is not one of the %lld token ids of the task: name %s",
                               what, id[i], (long long)s->dims.V, ask);
        mark[(int64_t)id[i]] = true;
    }
    return mark ? PEAT_OK : PEAT_NOMEM;
}

/* ---- heads ---- */

/* Splits x into heads: [1|B, T, H n] -> [1|B, H, T, n] */
static inline peat_node *peat_by_head(peat_graph *g, peat_node *x, int64_t n)
{
    static const int32_t axis[4] = {0, 2, 1, 3};
    peat_shape s = peat_shape_of(g, x);
    const int64_t dim[4] = {s.dim[0], s.dim[1], s.dim[2] / n, n};
    return peat_permute(g, peat_reshape(g, x, 4, dim), 4, axis);
}

/* p [1|B, Tk, H|1], a number for each key, as a term of the logits: [1|B, H|1, 1, Tk] */
static inline peat_node *peat_of_keys(peat_graph *g, peat_node *p)
{
    static const int32_t axis[4] = {0, 3, 1, 2};
    peat_shape s = peat_shape_of(g, p);
    const int64_t dim[4] = {s.dim[0], 1, s.dim[1], s.dim[2]};
    return peat_permute(g, peat_reshape(g, p, 4, dim), 4, axis);
}

/* p [1|B, Tq, H|1], a number for each query, as a term of the logits: [1|B, H|1, Tq, 1] */
static inline peat_node *peat_of_queries(peat_graph *g, peat_node *p)
{
    return peat_by_head(g, p, 1);
}

/* p_k - p_q for all pairs, with gradients: [1|B, H|1, Tq, Tk]. For positions that are data,
 * peat_delta. */
static inline peat_node *peat_pairs(peat_graph *g, peat_node *p_q, peat_node *p_k)
{
    return peat_sub(g, peat_of_keys(g, p_k), peat_of_queries(g, p_q));
}

/* ---- angles ---- */

/* base^(-i/n) for i < n, a constant [n] in radians per position: the frequencies of n pairs. Su et
 * al. 2021, section 3.2.2. */
static inline peat_node *peat_frequencies(const peat_call *c, int64_t n, double base)
{
    double *value = peat_scratch(c, n);
    for (int64_t i = 0; value && i < n; i++)
        value[i] = pow(base, -(double)i / (double)n);
    return peat_fill(c, 1, &n, value);
}

/* p [1|B, T, H|1] times frequencies [n] -> angles [1|B, H|1, T, n] */
static inline peat_node *peat_angles(const peat_call *c, peat_node *p, peat_node *frequency)
{
    return peat_mul(c->g, peat_of_queries(c->g, p), frequency);
}

/* Sines, then cosines of p [1|B, T, 1] times frequency [n], as a stream [1|B, T, 2n]. Vaswani et
 * al. 2017, section 3.5, in another order of dimensions. */
static inline peat_node *peat_waves(const peat_call *c, peat_node *p, peat_node *frequency)
{
    peat_node *angle = peat_mul(c->g, p, frequency), *half[2];
    half[0] = peat_sin(c->g, angle);
    half[1] = peat_cos(c->g, angle);
    return peat_concat(c->g, 2, half, -1);
}

/* Replaces the first d of the last dimensions of x [.., C] by `first` [.., d] -> [.., C] */
static inline peat_node *peat_with_rest(peat_graph *g, peat_node *first, peat_node *x)
{
    peat_shape f = peat_shape_of(g, first), s = peat_shape_of(g, x);
    peat_node *part[2];
    if (f.rank == 0 || s.rank == 0)
        return NULL;
    int64_t d = f.dim[f.rank - 1], C = s.dim[s.rank - 1];
    if (C == d)
        return first;
    part[0] = first;
    part[1] = peat_slice(g, x, -1, d, C);
    return peat_concat(g, 2, part, -1);
}

/* Rotates the first n pairs of x [B,H,T,C] by angles in radians, given as cosines and sines
 * [1|B, 1|H, T, n], n at most C/2; the dimensions from 2n on stay. Su et al. 2021, eq. 34. */
static inline peat_node *peat_turned(const peat_call *c, peat_node *x, peat_node *cosine,
                                     peat_node *sine, peat_layout layout)
{
    peat_shape a = peat_shape_of(c->g, cosine);
    int64_t d = a.rank > 0 ? 2 * a.dim[a.rank - 1] : 0;
    peat_node *first = peat_rotate(c->g, peat_slice(c->g, x, -1, 0, d), cosine, sine, layout);
    return peat_with_rest(c->g, first, x);
}

/* For the hook qkv: rotates queries and keys of io by angles in radians [1|B, 1|H, T, n]; angle_k
 * may be angle_q. `peat inspect` shows the queries' angles as "angle". Returns PEAT_OK: errors stay
 * in the graph. */
static inline peat_status peat_turn(const peat_call *c, peat_qkv *io, peat_node *angle_q,
                                    peat_node *angle_k, peat_layout layout)
{
    peat_node *cosine = peat_cos(c->g, angle_q), *sine = peat_sin(c->g, angle_q);
    peat_probe(c, "angle", angle_q);
    io->q = peat_turned(c, io->q, cosine, sine, layout);
    if (angle_k != angle_q) {
        cosine = peat_cos(c->g, angle_k);
        sine = peat_sin(c->g, angle_k);
    }
    io->k = peat_turned(c, io->k, cosine, sine, layout);
    return PEAT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
