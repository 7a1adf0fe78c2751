/* SPDX-License-Identifier: MIT */
/* rotation.h: for schemes that turn pairs of dimensions of queries and keys, or blocks of them. */
#ifndef SCHEME_ROTATION_H
#define SCHEME_ROTATION_H

#include <math.h>

#include <peat/plugin.h>

/* The parameter `layout` of a config: a peat_layout. */
static const char *const rotation_layouts[] = {"interleaved", "halves", NULL};
#define ROTATION_LAYOUT_ROW(config_)                                                               \
    {                                                                                              \
        "layout", PEAT_ENUM, offsetof(config_, layout),                                            \
            .preset = PEAT_INTERLEAVED, .labels = rotation_layouts,                                \
            .doc = "pairs (0,1), (2,3), ... or (0,C/2), (1,C/2+1), ..."                            \
    }

/* Only heads of an even width split into pairs. */
static inline peat_status rotation_needs_pairs(peat_setup *s)
{
    if (s->dims.C % 2 == 0)
        return PEAT_OK;
    return peat_refuse(s,
                       "a head width of %lld does not split into pairs that turn: make "
                       "model.d_model / model.n_head even",
                       (long long)s->dims.C);
}

/* Rows of d numbers at the positions of one side, the same for all heads: [pos_B, 1, T, d]. */
static inline peat_node *rotation_rows(const peat_call *c, const peat_side *side, int64_t d,
                                       peat_row_fn row)
{
    return peat_reshape(c->g, peat_rows(c, side, d, row), 4,
                        (int64_t[]){side->pos_B, 1, side->T, d});
}

/* For a row function: n angles in out become [cos angle | sin angle]. */
static inline void rotation_waves(double *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        out[n + i] = sin(out[i]);
        out[i] = cos(out[i]);
    }
}

/* For a row function: [cos angle | sin angle] of d/2 pairs, angle_i = p base^(-2i/d). Su et al.
 * 2021, section 3.2.2. */
static inline void rotation_row(double base, double p, double *out, int64_t d)
{
    for (int64_t i = 0; i < d / 2; i++)
        out[i] = p * pow(base, -(double)i / (double)(d / 2));
    rotation_waves(out, d / 2);
}

/* cos and sin of n pairs at one side, each [pos_B, 1, T, n], from rows [cos angle | sin angle]. */
static inline void rotation_turns(const peat_call *c, const peat_side *side, int64_t n,
                                  peat_row_fn row, peat_node **turn)
{
    peat_node *both = rotation_rows(c, side, 2 * n, row);
    turn[0] = peat_slice(c->g, both, -1, 0, n);
    turn[1] = peat_slice(c->g, both, -1, n, 2 * n);
}

#endif
