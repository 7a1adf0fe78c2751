/* SPDX-License-Identifier: MIT */
/*
 * best_over.h: axes whose value is chosen for each row, by some seeds or by one half of the
 * held-out data (eval.halves). The other seeds, or the other half, are reported.
 *
 * `report.best_over`; its normal form, as the run directory keeps it, is a map with axes: [KEY,
 * ...], by: seeds and choose: [SEED, ...], or by: halves, and where given metric, length and at:
 * {KEY: LABEL}.
 */
#pragma once

#include "base/base.h"

struct best_over {
    int n_axis; /* number of axes; 0: nothing is chosen */
    const char **axis;
    int64_t halves; /* 1: the data choose by halves: then every seed both chooses and is reported */
    int n_seed;     /* number of seeds kept for choosing: no mean, interval or test has them */
    int64_t *seed;
    const char *metric;       /* NULL: the report's metric         */
    int64_t length;           /* -1: the first length that was evaluated */
    const struct value *only; /* axis -> label: rows that differ only on these axes share a
                               * value, chosen at these labels; NULL: each row has its own */
    struct place at, metric_at, length_at; /* places: of `axes`; of metric and length, or else of
                                            * `axes` */
};

/* Reads the normal form; NULL: nothing is chosen. PEAT_CORRUPT: it is not a normal form. */
peat_status best_over_from_value(struct best_over *b, const struct value *v, struct arena *a,
                                 struct error *err);
struct value *best_over_value(const struct best_over *b, struct arena *a);

/* True where the axis is one whose value is chosen. */
bool best_over_has(const struct best_over *b, const char *axis);
/* True where rows that differ on this axis share a choice. */
bool best_over_spans(const struct best_over *b, const char *axis);
/* True where a cell with this label of the axis may take part in the choice. */
bool best_over_fits(const struct best_over *b, const char *axis, const char *label);
/* " at train.steps=1500", in `a`; "": each row has its own choice. */
const char *best_over_where(const struct best_over *b, struct arena *a);
/* True where the seed is kept for choosing. */
bool best_over_keeps(const struct best_over *b, int64_t seed);
/* The axes "train.lr, model.d_ff"; the seeds "seed 5" or "seeds 5, 6". In `a`. */
const char *best_over_axes(const struct best_over *b, struct arena *a);
const char *best_over_seeds(const struct best_over *b, struct arena *a);
