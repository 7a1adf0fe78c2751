/* SPDX-License-Identifier: MIT */
/*
 * effects.h: a contrast (experiment/contrast.h) in numbers: the difference A - B of two labels of
 * an axis, in each stratum and pooled, paired by seed.
 *
 * An effect over several strata is, for each seed that has all of them, the mean over the strata
 * (maths/strata.h): n counts seeds, not strata.
 */
#pragma once

#include "experiment/contrast.h"
#include "maths/strata.h"
#include "report/results.h"

struct effect {
    const char *name; /* labels of the strata: "learned"; "pooled" */
    int n_stratum;
    double *d; /* of the seeds that have a finite difference in every stratum */
    struct difference of;
    /* Seeds in which A, or B, diverged and the other did not: their difference is infinite, and
     * the mean without it flatters the row that diverged. */
    int a_diverged, b_diverged;
};

struct effects {
    struct contrast spec;
    const struct results *r;
    const char *metric, *split;
    bool goal_max;
    int64_t length;
    struct contrast_pairs pairs; /* rows of r; those of different tasks are left out */
    int n_other_task;
    struct pairs counted; /* cells */
    double *d;            /* [n_seed, pairs.n]; NaN: no pair, infinite: diverged */
    int n_line, n_margin;
    struct effect *line;    /* for each setting of the axes in `over` */
    struct effect *margin;  /* with several such axes: for each label of each */
    struct effect pooled;   /* over everything */
    const char *not_pooled; /* why; NULL: it is */
    int n_interaction;
    struct effect_interaction {
        int axis;
        struct interaction test;
    } * interaction; /* for each such axis with two labels or more */
    int unfinished;  /* cells of these rows that have not come to an end */
    int failed;      /* and those that failed */
};

/* The number of contrasts in the report, and the i-th. PEAT_INVALID: it does not fit the rows. */
int effects_count(const struct results *r);
peat_status effects_of_report(struct effects *x, const struct results *r, int i, int64_t length,
                              struct arena *a, struct error *err);
/* length -1: the first at which the metric was measured. */
void effects_compute(struct effects *x, const struct results *r, const struct contrast *c,
                     int64_t length, struct arena *a);
/* The effect whose value at each seed is of_seed [r->n_seed], NaN where it has none, made of the
 * strata `in` [pairs.n] as the sum of weight [pairs.n] times their differences. */
struct effect effect_of_seeds(const struct effects *x, const bool *in, const double *weight,
                              const double *of_seed, const char *name, struct arena *a);
/* Some line has a pair of values. */
bool effects_have_pairs(const struct effects *x);
/* Rows as contrast.h wants them. */
struct labelled results_labels(const struct results *r, struct arena *a);
/* "position.combine: concat_split - sum", or the two rows. */
const char *effects_what(const struct effects *x, struct arena *a);
