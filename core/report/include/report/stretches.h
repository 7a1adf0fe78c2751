/* SPDX-License-Identifier: MIT */
/* stretches.h: differences in each stretch of the test text, from the losses that cells keep. */
#pragma once

#include "report/results.h"

/* {"length", "nll", "targets"}: the cell's losses at a length (docs/formats.md, result.json); NULL:
 * it has no such losses. */
const struct value *cell_stretches(const struct result_cell *c, int64_t length);

/* A weighted sum of differences A - B of rows; pairs with weight 0 are left out. */
struct weighted_pairs {
    int n;
    const int (*row)[2];  /* [n] of r: A and B */
    const double *weight; /* [n] */
};

/* Sets text_half, text_se and text_df of d, the mean of that sum over these d->n seeds: over seeds
 * and the test text, with the variance that crossed.h estimates. Each cell's losses are scaled so
 * that their mean is its value of the metric. All three are NaN where the metric is not the same
 * multiple of the loss in all cells, where a cell has no losses of stretches, and where targets
 * differ. */
void difference_add_text(struct difference *d, const struct results *r,
                         const struct weighted_pairs *p, const int64_t *seed, const char *metric,
                         int64_t length);
