/* SPDX-License-Identifier: MIT */
/*
 * effects.h: a contrast (experiment/contrast.h) in numbers: the difference A - B of two labels of
 * an axis, in each stratum and pooled, paired by seed.
 *
 * An effect over several strata is, for each seed that has all of them, the mean over the strata
 * (maths/strata.h): n counts seeds, not strata.
 */
#pragma once

#include "experiment/change.h"
#include "experiment/contrast.h"
#include "maths/strata.h"
#include "report/results.h"

struct effect {
    const char *name; /* labels of the strata: "learned"; "pooled" */
    int n_stratum;
    double *d; /* differences at the seeds that have a finite one in every stratum */
    struct difference of;
    /* Number of seeds at which A, or B, diverged and the other did not. Their difference is
     * infinite, and the mean without it flatters the row that diverged. */
    int a_diverged, b_diverged;
    int both_diverged; /* number of seeds at which both did: they have no difference */
};

struct effects {
    struct contrast spec;
    const struct results *r;
    const char *metric, *split;
    bool goal_max;
    int64_t length;
    struct contrast_pairs pairs; /* rows of r; pairs of rows of different tasks are left out */
    int n_other_task;
    struct pairs counted; /* pairs of cells */
    double *d;            /* [n_seed, pairs.n] differences; NaN: no pair, infinite: diverged */
    int n_line, n_margin;
    struct effect *line;    /* an effect for each setting of the axes in `over` */
    struct effect *margin;  /* with several axes in `over`: an effect for each label of each axis */
    struct effect pooled;   /* the effect over all strata */
    const char *not_pooled; /* why there is no pooled effect; NULL: there is one */
    int n_interaction;
    struct effect_interaction {
        int axis;
        struct interaction test;
    } * interaction; /* a test for each axis in `over` with two labels or more */
    int unfinished;  /* number of cells of these rows that have not ended */
    int failed;      /* number of cells of these rows that failed */
};

/* The number of contrasts in the report, and contrast i. PEAT_INVALID: it does not fit the rows. */
int effects_count(const struct results *r);
peat_status effects_of_report(struct effects *x, const struct results *r, int i, int64_t length,
                              struct arena *a, struct error *err);
/* length -1: the first at which the metric was measured. */
void effects_compute(struct effects *x, const struct results *r, const struct contrast *c,
                     int64_t length, struct arena *a);
/* x - y of two rows at a length, an index: a contrast with one stratum. Only its differences and
 * pairs of cells are computed. */
struct effects effects_of_rows(const struct results *r, const struct result_row *x,
                               const struct result_row *y, int length, struct arena *a);
/* The difference in its one stratum. */
struct difference effects_difference(const struct effects *x, struct arena *a);
/* An effect with its kind in tables. */
struct listed_effect {
    const struct effect *e;
    const char *kind; /* "line", "margin", "pooled" */
    int m;            /* number of comparisons that its p is adjusted for */
};
/* The effects that are shown: lines, margins, and the pooled one, unless a single line would repeat
 * it. Returns their number. */
int effects_list(const struct effects *x, struct listed_effect **list, struct arena *a);
/* The effect whose value at each seed is of_seed [r->n_seed] (NaN: no value), computed from the
 * strata `in` [pairs.n] as the sum of weight [pairs.n] times their differences. */
struct effect effect_of_seeds(const struct effects *x, const bool *in, const double *weight,
                              const double *of_seed, const char *name, struct arena *a);
/* True where some pair of its rows crosses engines or precisions. */
bool effects_cross_engines(const struct effects *x);
/* True where some line has a pair of values. */
bool effects_have_pairs(const struct effects *x);
/* The rows' labels in the form that contrast.h needs. */
struct labelled results_labels(const struct results *r, struct arena *a);
/* "position.combine: concat_split - sum", or the two rows. */
const char *effects_what(const struct effects *x, struct arena *a);

/* effect_change.c: how an effect changes along an axis. Computes the changes into *out: one change,
 * or for CHANGE_MONOTONE one for each step, named "1500 to 6000". Returns their number; 0: *why has
 * the reason. x belongs to this contrast only, and c is not CHANGE_NONE. */
int effect_changes(const struct effects *x, const struct change *c, struct effect **out,
                   const char **why, struct arena *a);

/* ---- stretches.c ---- */

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
