/* SPDX-License-Identifier: MIT */
/*
 * results.h: the results of one or more run directories as rows over seeds.
 *
 * A row is one setting of all axes; its values are one number per seed. Reading needs neither
 * plugins nor data.
 */
#pragma once

#include "grid/claimfile.h"
#include "grid/rundir.h"
#include "maths/statistics.h"

#define RESULTS_MAX_LENGTHS 32
#define RESULTS_MAX_METRICS 64

struct results_options {
    const char *metric;   /* NULL: the report's metric, or the task's main one */
    const char *baseline; /* "axis=label[,axis=label]" or a label; NULL: the plan's baseline */
    enum paired_test test;
    bool mix_stopped; /* compare rows that stop early with rows that do not */
    bool every_value; /* read the run as if it had no best_over: all rows and seeds, no contrasts
                       * and claims */
};

/* One number of a cell. */
struct measured {
    const char *metric, *split;
    int64_t length, step; /* -1: not known */
    double value;         /* NaN: no value, or one that is not finite */
    bool untrained;
};

/* One cell of the grid with its results. */
struct result_cell {
    int64_t seed;
    int task;      /* task of its row */
    int directory; /* index in results.dir */
    int row;       /* index in results.row; -1: it is in no row */
    bool may_stop; /* train.patience is set, so its length of training may differ */
    bool left_out; /* it is also in another directory, whose copy counts */
    enum cell_state state;
    bool reported;    /* its value stands in a row: its seed or half is not for choosing, and it has
                       * the value that best_over chose */
    const char *role; /* its role in the choice; NULL: nothing is chosen */
    const struct value *planned; /* its entry in plan.json */
    /* NULL when absent; `end` (end.json) also when there is a result. */
    const struct value *config, *result, *meta, *end;
    const char *id, *label, *dir; /* label: the id where the plan has none */
    const char *damage; /* damage of its files; NULL: not damaged. A damaged cell has no result */
    int n_measure;
    const struct measured *measure; /* the last evaluation, in the order of result.json */
    /* Measures of the table's metric, by length; NULL: not measured. */
    const struct measured *at[RESULTS_MAX_LENGTHS];
};

/* True for a finished cell that is not stale: its values count. */
static inline bool result_counts(const struct result_cell *c)
{
    return c->state == CELL_DONE;
}

/* The value of the table's metric at a length, an index; NaN: no value. */
static inline double result_value(const struct result_cell *c, int length)
{
    return c->at[length] ? c->at[length]->value : (double)NAN;
}

/* True for a reported cell that is not the copy of one in another directory. */
static inline bool result_is_reported(const struct result_cell *c)
{
    return c->reported && !c->left_out;
}

/* Cells of two rows at the same seed, both with a value. A pair is refused where the cells differ
 * in their task, training batches or number of scored targets, or in initial values where shapes
 * are the same. */
enum refusal { OTHER_STOP, OTHER_TASK, OTHER_BATCHES, OTHER_TARGETS, OTHER_INIT, REFUSALS };
struct pairs {
    int n; /* number of pairs; by_data: pairs of them whose weights differ in shape */
    int by_data;
    int refused[REFUSALS];
};
int pairs_refused(const struct pairs *p);
/* The reason of a refusal in words. */
struct refusal_text {
    const char *brief, *whole; /* "other task"; the end of a note */
};
extern const struct refusal_text refusals[REFUSALS];

/* Differences paired by seed: their mean with a 95 % Student-t interval, effect sizes and tests. */
struct difference {
    int n;
    double mean, sd, ci_low, ci_high; /* NaN where undefined (n < 2: sd and interval) */
    double dz, gz;                    /* effect sizes */
    double p, p_holm;                 /* p_holm: Holm over the rows, or lines, that are shown
                                       * together */
    double p_t, p_t_holm; /* p of the paired t test, which can be small with any number of seeds */
    /* Over seeds and test text (maths/crossed.h): the half-width of the 95 % interval, the mean's
     * standard error and its degrees of freedom. NaN where the cells have no losses by stretch. */
    double text_half, text_se, text_df;
};

/* Mean over seeds with a Student-t interval, and the difference to the baseline. */
struct summary {
    int n;                            /* number of seeds with a finite value */
    double mean, sd, ci_low, ci_high; /* as in struct difference */
    struct pairs pairs;
    struct difference diff; /* NaN for the baseline itself */
    bool untrained;
};

/* The numbers of a difference under their names in csv, json and page; ended by a NULL name. */
struct statistic {
    const char *name;
    size_t at; /* offset of a double in struct difference */
};
extern const struct statistic statistics[];
static inline double statistic_of(const struct difference *d, const struct statistic *s)
{
    return *(const double *)(const void *)((const char *)d + s->at);
}

struct result_row {
    const char *axis[EXPERIMENT_MAX_AXES];
    int task;  /* Rows with the same number may be compared: they have equal settings of the task,
                * metrics and unit and, where the task leaves it to the model, objective */
    int group; /* Rows with the same number are ranked with each other: of one task and of the same
                * labels on the axes that results.within names */
    int n_cell;
    struct result_cell **cell; /* the cells, by seed */
    const char *chosen; /* the value that best_over chose, "lr=0.003"; "-": none yet; NULL: nothing
                         * is chosen */
    const struct value *choice; /* the same as "chosen" and "choice" of the JSON */
    int failed, diverged, missing, stale, damaged;
    int decided;                     /* number of cells that no look at the claims needs */
    int drifted;                     /* number of cells that count and drifted: see cell_drift() */
    int64_t steps_least, steps_most; /* training steps of the cells that count; 0: no such cell */
    int stopped;                     /* number of these cells that stopped before the last step */
    struct summary at[RESULTS_MAX_LENGTHS];
    int baseline;                   /* index of the row that is its baseline (its own: it is the
                                     * baseline); -1: no baseline */
    double q[QUANTITIES];           /* base/quantity.h; NaN: no value */
    bool best[RESULTS_MAX_LENGTHS]; /* best of its group, or not distinguishable from the best */
};

/* One cell that is in two directories with different bits. */
struct result_rival {
    const struct result_cell *counts, *other;
};

/* True where the engine (meta.json's trained_by) or the precision of two cells of one seed that
 * count differs between the rows. */
bool result_rows_cross_engines(const struct result_row *x, const struct result_row *y);

struct result_metric {
    const char *name, *split;
    bool goal_max;
};

struct results {
    const char *experiment;  /* names of all directories' experiments, joined by " + " */
    const char *metric;      /* "" while no cell has finished and no metric was asked for */
    const char *split;       /* "test", "valid", "report" (a half); "train": the metric exists only
                              * there */
    const char *length_unit; /* "" while unknown */
    bool goal_max;
    enum paired_test test;
    const struct value *best_over; /* in its normal form (experiment/best_over.h); NULL: nothing was
                                    * chosen; otherwise `axis` leaves the chosen axes out */
    int n_note;
    const char **note; /* how values were chosen, and doubts */
    int n_axis;
    const char *axis[EXPERIMENT_MAX_AXES];
    bool within[EXPERIMENT_MAX_AXES]; /* axes whose labels are not ranked with each other */
    const char *within_text;          /* "size"; NULL: there are none */
    int n_length;
    int64_t length[RESULTS_MAX_LENGTHS];
    int n_row, n_task, n_group;
    struct result_row *row;
    int n_seed;
    int64_t *seed;
    int n_cell;
    struct result_cell *cell;
    int n_dir;
    const struct rundir *dir; /* the directories that were read */
    int n_rival, rival_room;
    struct result_rival *rival;
    int n_metric;
    struct result_metric known[RESULTS_MAX_METRICS];
    int comparisons[RESULTS_MAX_LENGTHS]; /* number of comparisons in the Holm family */
    int n_dropped;
    const char **dropped;             /* grid points that are the same model as a row */
    int n_skipped;                    /* number of cells that the plan refused        */
    const struct value *baseline;     /* the plan's: axis -> label; NULL: no baseline */
    const struct value *contrasts;    /* contrasts of the report, in their normal form; NULL: none
                                       * given */
    struct claims_kept claims;        /* claims of the first directory */
    struct registration registration; /* of all directories */
    const char *baseline_text;        /* "scheme=none", from the plan or the options; NULL: no
                                       * baseline */
};

/* PEAT_NOTFOUND, PEAT_IO, ...: not a run directory; PEAT_INVALID: directories that do not make one
 * table, an unknown metric or baseline. */
peat_status results_read(struct results *r, int n_dir, char *const *dir,
                         const struct results_options *o, struct arena *a, struct error *err);

/* A measure of result.json, or a line of metrics.jsonl. Texts are borrowed. */
struct measured measure_of(const struct value *v);
/* The cell's number, at the shortest length with length -1; NULL: not measured. */
const struct measured *cell_measure(const struct result_cell *c, const char *metric,
                                    const char *split, int64_t length);
/* The index of the metric among the known ones; -1: no cell has it. */
int results_metric(const struct results *r, const char *name);
/* True where the cell has a value of the metric at some length. */
bool result_has_value(const struct results *r, const struct result_cell *c);
/* The data that a split's numbers were measured on: "on the test part"; "": the split is
 * not known. */
const char *results_part(const char *split);
/* The last part of an axis' name, or all of it where two would be the same: "scheme". */
const char *results_axis_name(const struct results *r, int axis);
/* "rotary.sum": the row's labels joined; "-" without axes. */
const char *results_row_label(const struct results *r, const struct result_row *row,
                              struct arena *a);
/* A text of the row's cells in plan.json, "attention_path"; NULL: unknown. */
const char *row_text(const struct result_row *row, const char *key);
/* True where a row has this quantity (for sparse quantities: not 0). */
bool results_have(const struct results *r, enum quantity_name q);
/* *index: of this length, or of the first one (-1); -1: nothing was evaluated yet. PEAT_INVALID:
 * nothing was evaluated at this length. */
peat_status results_find_length(const struct results *r, int64_t length, int *index,
                                struct arena *a, struct error *err);
/* The row's cell of this seed, or NULL. */
const struct result_cell *row_cell(const struct result_row *row, int64_t seed);

/* The row with the best mean among the rows of one group. A row of one seed is not the best where
 * another row has more seeds. NULL: no row has a value. */
const struct result_row *results_best(const struct results *r, int group, int length);
/* The summary of n values, without a difference. */
struct summary summary_of(const double *x, int n);
struct difference difference_of(const double *d, int n, enum paired_test test);
/* Sets p_holm and p_t_holm of n differences; returns how many have a p. */
int differences_adjust(struct difference *const *d, int n, struct arena *a);
/* True where a and b, of the same seed and with values, are a pair. Counts it in p. */
bool pair_holds(const struct result_cell *a, const struct result_cell *b, struct pairs *p);
