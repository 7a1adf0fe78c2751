/* SPDX-License-Identifier: MIT */
/*
 * ranking.h: ranks of methods within each of several tasks, with tests and scores over tasks.
 *
 * A task axis is an axis along which the tasks of rows differ; a method is a setting of the other
 * axes.
 * Raw values are never averaged over tasks. With x the mean of a method on a task, b that of its
 * baseline and g the best of the task:
 *   score  mean over tasks of (x - b) / (g - b): 0 is the baseline, 1 the best; tasks on which
 *          nothing is better than the baseline are left out
 *   ratio  exp(mean over tasks of log(x / b)), where all are positive
 */
#pragma once

#include "report/table.h"

struct ranked_method {
    const struct result_row *row;   /* a row with its labels */
    int column;                     /* in `value` and `rank` */
    double mean_rank, score, ratio; /* NaN: not defined */
    bool best;                      /* has the best mean rank, or is within the critical
                                     * difference of it */
};

struct ranking {
    const struct results *r;
    bool is_task[EXPERIMENT_MAX_AXES]; /* [axes] the axis is a task axis */
    int k, n;                          /* k: methods with a value on all n tasks */
    struct ranked_method *method;
    const struct result_row **task; /* one row of each task */
    int *length;                    /* index of the length used on each task */
    double *value, *rank;           /* [n][k] */
    int n_score;                    /* number of tasks in the mean score */
    bool tested;
    struct friedman test;
    const char *why_not; /* why there is no test; NULL: there is one */
    int n_incomplete;
    const char **incomplete; /* methods that lack a value on some task */
};

/* PEAT_INVALID: no axis is a task axis, or nothing was evaluated at this length (-1: the first
 * length of each task). */
peat_status ranking_make(struct ranking *k, const struct results *r, int64_t length,
                         struct arena *a, struct error *err);
void ranking_table(const struct ranking *k, struct arena *a, struct table *t);
void ranking_json(const struct ranking *k, struct arena *a, struct strbuf *out);
