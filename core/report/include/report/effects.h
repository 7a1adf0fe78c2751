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
/* The effect whose value at each seed is of_seed [r->n_seed] (NaN: no value), computed from the
 * strata `in` [pairs.n] as the sum of weight [pairs.n] times their differences. */
struct effect effect_of_seeds(const struct effects *x, const bool *in, const double *weight,
                              const double *of_seed, const char *name, struct arena *a);
/* True where some line has a pair of values. */
bool effects_have_pairs(const struct effects *x);
/* The rows' labels in the form that contrast.h needs. */
struct labelled results_labels(const struct results *r, struct arena *a);
/* "position.combine: concat_split - sum", or the two rows. */
const char *effects_what(const struct effects *x, struct arena *a);
