/* SPDX-License-Identifier: MIT */
/* stretches.h: differences in each stretch of the test text, from the losses that cells keep. */
#pragma once

#include "report/effects.h"

/* {"length", "nll", "targets"}: the cell's losses at a length (docs/formats.md, result.json); NULL:
 * it has no such losses. */
const struct value *cell_stretches(const struct result_cell *c, int64_t length);

/* Sets text_half, text_se and text_df of d, the mean over these d->n seeds of the sum of
 * weight [x->pairs.n] times the differences of the pairs; pairs with weight 0 are left out. Over
 * seeds and the test text, with the variance that crossed.h estimates. Each cell's losses are
 * scaled so that their mean is its value of the metric. All three are NaN where the metric is not
 * the same multiple of the loss in all cells, where a cell has no losses of stretches, and where
 * targets differ, and without a test part. */
void difference_add_text(struct difference *d, const struct effects *x, const double *weight,
                         const int64_t *seed);
