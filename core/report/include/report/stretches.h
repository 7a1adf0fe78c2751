/* SPDX-License-Identifier: MIT */
/* stretches.h: differences in each stretch of the test text, as cells keep their losses. */
#pragma once

#include "report/results.h"

/* {"length", "nll", "targets"}: the cell's losses at a length (docs/formats.md, result.json); NULL:
 * it has none. */
const struct value *cell_stretches(const struct result_cell *c, int64_t length);

/* A sum of differences A - B of rows, each by a weight; weight 0 takes no part. */
struct weighted_pairs {
    int n;
    const int (*row)[2];  /* [n] of r: A and B */
    const double *weight; /* [n] */
};

/* Fills text_half, text_se and text_df of d, which is the mean of the sum over these d->n seeds:
 * over seeds and the test text, as crossed.h estimates the variance. Each cell's losses are
 * multiplied by what makes their mean its value of the metric, so all is NaN where the metric is
 * not the same multiple of the loss in all cells, where a cell has no losses of stretches, and
 * where targets differ. */
void difference_add_text(struct difference *d, const struct results *r,
                         const struct weighted_pairs *p, const int64_t *seed, const char *metric,
                         int64_t length);
