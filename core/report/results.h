/* SPDX-License-Identifier: MIT */
/*
 * results.h: the results of one or more run directories as rows over seeds.
 *
 * A row is one setting of all axes; its values are one number per seed. Reading needs neither
 * plugins nor data.
 */
#ifndef REPORT_RESULTS_H
#define REPORT_RESULTS_H

#include "experiment/rundir.h"

#define RESULTS_MAX_LENGTHS 32

struct results_options {
    const char *metric;   /* NULL: the report's, else the task's main metric */
    const char *baseline; /* label of a row or "axis=label"; NULL: the plan's */
};

/* One cell of the grid with what it came to. */
struct result_cell {
    int64_t seed;
    enum cell_state state;
    const struct value *config, *result, *meta; /* NULL when absent */
    const char *id, *label;
    double value[RESULTS_MAX_LENGTHS]; /* of the metric, by length; NaN: none */
    bool untrained[RESULTS_MAX_LENGTHS];
};

/* Mean over seeds with a Student-t interval, and the difference to the baseline paired by seed. */
struct summary {
    int n; /* seeds with a finite value */
    double mean, sd, ci_low, ci_high; /* NaN where undefined (n < 2: sd and interval) */
    int n_pairs;
    double diff, diff_ci_low, diff_ci_high; /* NaN for the baseline itself */
    double p, p_holm;                       /* exact sign-flip; Holm over the rows shown */
    bool untrained;
};

struct result_row {
    const char *axis[EXPERIMENT_MAX_AXES];
    int n_cell;
    struct result_cell **cell; /* by seed */
    int failed, diverged, missing, stale;
    struct summary at[RESULTS_MAX_LENGTHS];
    int baseline; /* row index, -1: none, own index: is the baseline */
    double params, params_positional, flops_per_token;
    double tokens_per_s, peak_rss_kib, wall_s; /* medians over finished seeds; NaN: none */
    const char *attention_path, *injection;
    bool best[RESULTS_MAX_LENGTHS]; /* best, or not separable from it */
};

struct results {
    const char *experiment, *metric, *length_unit;
    bool goal_max;
    int n_axis;
    const char *axis[EXPERIMENT_MAX_AXES];
    int n_length;
    int64_t length[RESULTS_MAX_LENGTHS];
    int n_row;
    struct result_row *row;
    int n_seed;
    int n_cell;
    struct result_cell *cell;
    int n_baseline_rows, comparisons; /* size of the Holm family */
};

peat_status results_read(struct results *r, int n_dir, char *const *dir,
                         const struct results_options *o, struct arena *a, struct error *err);

#endif
