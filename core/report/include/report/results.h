/* SPDX-License-Identifier: MIT */
/*
 * results.h: the results of one or more run directories as rows over seeds.
 *
 * A row is one setting of all axes; its values are one number per seed. Reading needs neither
 * plugins nor data.
 */
#pragma once

#include "grid/best.h"
#include "grid/claimfile.h"
#include "grid/rundir.h"
#include "maths/statistics.h"

#define RESULTS_MAX_LENGTHS 32
#define RESULTS_MAX_METRICS 64

struct results_options {
    const char *metric;   /* NULL: the report's, else the task's main metric */
    const char *baseline; /* "axis=label[,axis=label]" or a label; NULL: the plan's */
    enum paired_test test;
    bool mix_stopped; /* rows that stop early are compared with rows that do not */
    bool every_value; /* as if there were no best_over: all rows and seeds, no contrast and claim */
};

/* One cell of the grid with its results. */
struct result_cell {
    int64_t seed;
    int task;      /* its row's */
    bool may_stop; /* train.patience is set: its length of training is its own */
    bool left_out; /* the same cell of another directory counts */
    enum cell_state state;
    enum best_role role;                        /* where there is best_over */
    const struct value *planned;                /* its entry in plan.json */
    const struct value *config, *result, *meta; /* NULL when absent       */
    const char *experiment, *id, *label, *dir;
    const char *damage; /* of its files; NULL: none. A damaged cell has no result */
    /* Of the batches, of the initial values and of the shapes of the weights that every scheme and
     * combination shares; NULL: not recorded. */
    const char *batches, *init, *shapes;
    double value[RESULTS_MAX_LENGTHS]; /* of the metric, by length; NaN: none */
    bool untrained[RESULTS_MAX_LENGTHS];
    bool not_finite[RESULTS_MAX_LENGTHS]; /* measured in a cell that counts, and no number */
};

/* Finished, and not stale: its values count. */
static inline bool result_counts(const struct result_cell *c)
{
    return c->state == CELL_DONE;
}

/* Cells of two rows at the same seed, both with a value. A pair that is not of one task, did not
 * train on the same batches, or did not begin with the same values where shapes are the same, is no
 * pair. */
enum refusal { OTHER_STOP, OTHER_TASK, OTHER_BATCHES, OTHER_INIT, REFUSALS };
struct pairs {
    int n; /* that are paired, of these `by_data` alone: their weights differ in shape */
    int by_data;
    int refused[REFUSALS];
};
int pairs_refused(const struct pairs *p);
/* Why a pair is refused. */
struct refusal_text {
    const char *brief, *whole; /* "other task"; the end of a note */
};
extern const struct refusal_text refusals[REFUSALS];

/* Differences paired by seed: their mean with a 95 % Student-t interval, effect sizes and tests. */
struct difference {
    int n;
    double mean, sd, ci_low, ci_high; /* NaN where undefined (n < 2: sd and interval) */
    double dz, gz;                    /* effect sizes */
    double p, p_holm;                 /* Holm over the rows, or lines, that are shown together */
    double p_t, p_t_holm; /* the same of the paired t test, which any number of seeds can pass */
    /* Over seeds and test text (maths/crossed.h); NaN where the cells have no losses by stretch.
     * The half-width of the 95 % interval, the mean's standard error and its degrees of freedom. */
    double text_half, text_se, text_df;
};

/* Mean over seeds with a Student-t interval, and the difference to the baseline. */
struct summary {
    int n;                            /* seeds with a finite value */
    double mean, sd, ci_low, ci_high; /* as in struct difference */
    struct pairs pairs;
    struct difference diff; /* NaN for the baseline itself */
    bool untrained;
};

/* The numbers of a difference by their names in csv, json and page; ended by a NULL name. */
struct statistic {
    const char *name;
    size_t at; /* of a double in struct difference */
};
extern const struct statistic statistics[];
static inline double statistic_of(const struct difference *d, const struct statistic *s)
{
    return *(const double *)(const void *)((const char *)d + s->at);
}

struct result_row {
    const char *axis[EXPERIMENT_MAX_AXES];
    int task; /* rows that may be compared have the same number: equal settings of the task, the
                 same metrics, unit and, where the task leaves it to the model, objective */
    int n_cell;
    struct result_cell **cell;     /* by seed */
    const struct best_row *choice; /* the value that best_over gave it; NULL: there is none */
    int failed, diverged, missing, stale, damaged;
    int decided;                     /* cells that no look at the claims needs */
    int drifted;                     /* of the cells that count: see cell_drift() */
    int64_t steps_least, steps_most; /* of training, of these; 0: none counts */
    int stopped;                     /* of these, before the last step */
    struct summary at[RESULTS_MAX_LENGTHS];
    int baseline;                   /* row index, -1: none, own index: is the baseline */
    double q[QUANTITIES];           /* base/quantity.h; NaN: none */
    bool best[RESULTS_MAX_LENGTHS]; /* best of its task, or not separable from it */
};

/* One cell that two directories have, with other bits in each. */
struct result_rival {
    const struct result_cell *counts, *other;
};

struct result_metric {
    const char *name, *split;
    bool goal_max;
};

struct results {
    const char *experiment; /* names of all directories' experiments, joined by " + " */
    const char *metric;     /* "" while nothing is finished and none was asked for */
    const char *split; /* "test", "valid", "report" (a half); "train": only it has the metric */
    const char *length_unit; /* "" while unknown */
    bool goal_max;
    enum paired_test test;
    struct best best; /* over.n_axis 0: nothing was chosen, else axis is without those axes */
    int n_axis;
    const char *axis[EXPERIMENT_MAX_AXES];
    int n_length;
    int64_t length[RESULTS_MAX_LENGTHS];
    int n_row, n_task;
    struct result_row *row;
    int n_seed;
    int64_t *seed;
    int n_cell;
    struct result_cell *cell;
    int n_dir;
    const struct rundir *dir; /* that were read */
    int n_rival, rival_room;
    struct result_rival *rival;
    int n_metric;
    struct result_metric known[RESULTS_MAX_METRICS];
    int comparisons[RESULTS_MAX_LENGTHS]; /* size of the Holm family */
    int n_dropped;
    const char **dropped;          /* grid points that are the same model as a row */
    int n_skipped;                 /* cells that the plan refused                  */
    const struct value *baseline;  /* the plan's: axis -> label; NULL: none */
    const struct value *contrasts; /* of the report, in their normal form; NULL: none */
    struct claims_kept claims;     /* of the first directory */
    const char *baseline_text;     /* "scheme=none", of the plan or as asked; NULL: none */
};

/* PEAT_NOTFOUND, PEAT_IO, ...: not a run directory; PEAT_INVALID: directories that do not go
 * together, an unknown metric or baseline. */
peat_status results_read(struct results *r, int n_dir, char *const *dir,
                         const struct results_options *o, struct arena *a, struct error *err);

/* "on the test part": what a split's numbers were measured on; "": the split is not known. */
const char *results_part(const char *split);
/* The last part of an axis' name, or all of it where two would be the same: "scheme". */
const char *results_axis_name(const struct results *r, int axis);
/* "rotary.sum": the row's labels joined; "-" without axes. */
const char *results_row_label(const struct results *r, const struct result_row *row,
                              struct arena *a);
/* The cell is reported: it is not of a seed for choosing, and it has its row's chosen value. */
bool results_reports(const struct results *r, const struct result_cell *c);
int results_count_reported(const struct results *r);
/* A text of the row's cells in plan.json, "attention_path"; NULL: unknown. */
const char *row_text(const struct result_row *row, const char *key);
/* A row has this number; of sparse ones, another than 0. */
bool results_have(const struct results *r, enum quantity_name q);
/* The index of a length; -1: nothing was evaluated at it. */
int results_find_length(const struct results *r, int64_t length);
/* An error that lists the lengths there are; PEAT_INVALID. */
peat_status results_no_length(const struct results *r, int64_t length, struct arena *a,
                              struct error *err);
/* The row's cell of this seed, or NULL. */
const struct result_cell *row_cell(const struct result_row *row, int64_t seed);

/* best_rows.c: rows that differ only on the axes of best_over become one, with the chosen value's
 * cells at the reported seeds. Without a chosen value its cells wait, or count as diverged when
 * every value diverged. The axes leave the table. */
peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err);

/* comparison.c: fills baseline, at and best of every row. */
peat_status results_compare(struct results *r, const struct results_options *o, struct arena *a,
                            struct error *err);
/* The best mean among the rows of one task: values of different tasks are not compared, and a row
 * of one seed stands back where another has more. NULL: none has a value. */
const struct result_row *results_best(const struct results *r, int task, int length);
/* The summary of n values, without a difference. */
struct summary summary_of(const double *x, int n);
struct difference difference_of(const double *d, int n, enum paired_test test);
/* x - y of two rows of r, with the interval over seeds and text where they have it. */
struct difference rows_difference(const struct results *r, const struct result_row *x,
                                  const struct result_row *y, int length, struct pairs *pairs,
                                  struct arena *a);
/* Fills p_holm and p_t_holm of n differences; how many have a p. */
int differences_adjust(struct difference *const *d, int n, struct arena *a);
/* a - b; NaN when either (NULL: none) has no value or they are no pair. Counts into p. */
double pair_difference(const struct result_cell *a, const struct result_cell *b, int length,
                       struct pairs *p);
/* a and b, of the same seed and with values, are a pair. Counts into p. */
bool pair_holds(const struct result_cell *a, const struct result_cell *b, struct pairs *p);
