/* SPDX-License-Identifier: MIT */
/*
 * widths.h: how combinations settle the widths of their streams, and add up what is equally wide.
 *
 * A width of 0 is free; any other is what its stream insists on.
 */
#ifndef COMBINE_WIDTHS_H
#define COMBINE_WIDTHS_H

#include <peat/plugin.h>

/* All streams get D; refuses when one insists on another width. */
static inline peat_status widths_equal(peat_setup *s, int32_t n, const char *const *stream,
                                       int64_t *width, int64_t D)
{
    for (int32_t i = 0; i < n; i++) {
        if (width[i] && width[i] != D)
            return peat_refuse(s,
                               "all streams must be as wide as the model, %lld, but '%s' is "
                               "always %lld wide",
                               (long long)D, stream[i], (long long)width[i]);
        width[i] = D;
    }
    return PEAT_OK;
}

/* Free streams beside the tokens get d_pos; returns the sum of all widths beside the tokens. */
static inline int64_t widths_beside(int32_t n, int64_t *width, int64_t d_pos)
{
    int64_t sum = 0;
    for (int32_t i = 1; i < n; i++) {
        width[i] = width[i] ? width[i] : d_pos;
        sum += width[i];
    }
    return sum;
}

/* d_pos where the user gives it, else a quarter of D. */
static inline int64_t widths_quarter(int64_t d_pos, int64_t D)
{
    return d_pos ? d_pos : D < 4 ? 1 : D / 4;
}

/* x_1 + x_2 + ...: the positional streams, of equal width. */
static inline peat_node *widths_sum(const peat_call *c, int32_t n, peat_node *const *x)
{
    peat_node *sum = x[1];
    for (int32_t i = 2; i < n; i++)
        sum = peat_add(c->g, sum, x[i]);
    return sum;
}

#endif
