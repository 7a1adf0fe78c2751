/* SPDX-License-Identifier: MIT */
/*
 * differences.h: the position differences of one forward pass, for bias_rel.
 *
 * Consecutive positions give 2T-1 differences and no index. Whole positions of any other order give
 * every whole number between the extremes and an index. All other positions give one difference for
 * each pair. For callers of bias_rel.
 */
#pragma once

#include "nn/pass.h"

struct differences {
    peat_rel rel;
    int64_t pos_B, Tq, Tk;
    bool toeplitz;
    peat_node *index; /* I32 [pos_B, 1, Tq*Tk] into rel; NULL when toeplitz or when rel has all
                       * pairs */
};

/* The differences between the keys and the queries of a scheme's call, made once per pass and
 * number of axes, and once for each scheme with own positions; NULL when memory ran out. */
struct differences *pass_differences(struct pass *pass, const peat_call *c);
/* A scheme's values [1|H, n] as a bias [1|pos_B, 1|H, Tq, Tk], for differences that are not
 * Toeplitz. */
peat_node *differences_spread(struct pass *pass, const struct differences *d, peat_node *value);
