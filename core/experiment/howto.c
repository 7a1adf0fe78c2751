/* SPDX-License-Identifier: MIT */
/* howto.c: the sections run, report and match, which say how to run and compare. */

#include "comparisons.h"
#include "plugin/params.h"
#include "tensor/gemm.h"

#define RUN(type, field, ...)    PARAM_ROW(type, struct run_settings, field, #field, __VA_ARGS__)
#define REPORT(type, field, ...) PARAM_ROW(type, struct report_settings, field, #field, __VA_ARGS__)
#define MATCH(type, field, ...)  PARAM_ROW(type, struct match_settings, field, #field, __VA_ARGS__)

static const char *const on_failure_labels[] = {"continue", "stop", NULL};
static const char *const launcher_labels[] = {"local", "slurm", NULL};
static const char *const goal_labels[] = {"auto", "min", "max", NULL};
static const char *const at_labels[] = {"final", NULL};
static const char *const by_labels[] = {"params", "flops", NULL};

const peat_param run_rows[] = {
    RUN(PEAT_INT, jobs, "cells at once", WITHIN(1, EXPERIMENT_MAX_JOBS),
        .automatic = "as many as there are cores", .flags = PEAT_AUTO),
    RUN(PEAT_INT, threads, "threads of each cell", WITHIN(1, EXPERIMENT_MAX_THREADS),
        .automatic = "the cores that jobs leave", .flags = PEAT_AUTO),
    RUN(PEAT_ENUM, on_failure, "when a cell fails: stop the run, or go on with the others",
        .labels = on_failure_labels),
    RUN(PEAT_ENUM, launcher, "program that starts cells", .labels = launcher_labels),
    RUN(PEAT_STRING, gemm, "provider of matrix products"),
    RUN(PEAT_BOOL, tensorboard, "write event files beside the metrics"),
    PEAT_PARAM_END,
};

const peat_param checkpoint_rows[] = {
    PARAM_ROW(PEAT_INT, struct run_settings, checkpoint_every, "every",
              "steps between checkpoints; 0: only at the end", .preset = 500, WITHIN(0, 1e9),
              .unit = "steps"),
    PEAT_PARAM_END,
};

const peat_param report_rows[] = {
    REPORT(PEAT_STRING, metric, "metric of the table; not given: the task's main one"),
    REPORT(PEAT_ENUM, goal, "whether less or more is better", .labels = goal_labels,
           .automatic = "as the metric says", .flags = PEAT_AUTO),
    REPORT(PEAT_ENUM, at, "the evaluation that counts", .labels = at_labels),
    PEAT_PARAM_END,
};

const peat_param match_rows[] = {
    MATCH(PEAT_ENUM, by, "the quantity that is made equal", .labels = by_labels),
    MATCH(PEAT_REAL, tolerance, "largest relative difference that is accepted", .preset = 0.01,
          WITHIN(0, 1)),
    PEAT_PARAM_END,
};

/* Keys that are read separately, without a row above. */
const char *const run_keys[] = {"timeout",    "no_progress", "plan_timeout",
                                "checkpoint", "slurm",       NULL};
const char *const report_keys[] = {"baseline", "contrasts", "best_over", NULL};
const char *const match_keys[] = {"to", "adjust", NULL};

/* ---- run ---- */

static bool read_limits(struct reading *r, const struct value *run)
{
    struct run_settings *s = &r->e->run;
    s->no_progress = 600;
    s->plan_timeout = 30;
    return seconds_read(r, run, "timeout", "run", &s->timeout) &&
           seconds_read(r, run, "no_progress", "run", &s->no_progress) &&
           seconds_read(r, run, "plan_timeout", "run", &s->plan_timeout);
}

/* Refuses a provider that is not installed, before anything is planned. */
static bool read_gemm(struct reading *r, const struct value *run)
{
    struct error why = {0};
    const struct value *given = value_get(run, "gemm");
    struct run_settings *s = &r->e->run;
    if (!s->gemm[0] || strcmp(s->gemm, "auto") == 0) {
        s->gemm = "auto";
        return true;
    }
    if (gemm_check(s->gemm, &why) == PEAT_OK)
        return true;
    return mistake(r->err, given->at, "%s", why.text);
}

bool run_read(struct reading *r)
{
    const struct value *run = value_get(r->root, "run");
    struct run_settings *s = &r->e->run;
    bool ok = params_fill(run_rows, s, run, "run", run_keys, r->a, r->err) == PEAT_OK;
    s->jobs = value_get(run, "jobs") ? s->jobs : 1;
    s->threads = value_get(run, "threads") ? s->threads : 1;
    return ok &&
           params_fill(checkpoint_rows, s, value_get(run, "checkpoint"), "checkpoint", NULL, r->a,
                       r->err) == PEAT_OK &&
           read_limits(r, run) && read_gemm(r, run) && slurm_read(r, value_get(run, "slurm"));
}

/* ---- report ---- */

bool report_read(struct reading *r)
{
    const struct value *report = value_get(r->root, "report");
    struct report_settings *s = &r->e->report;
    if (params_fill(report_rows, s, report, "report", report_keys, r->a, r->err) != PEAT_OK)
        return false;
    const struct value *metric = value_get(report, "metric");
    const struct value *baseline = value_get(report, "baseline");
    s->metric_at = metric ? metric->at : r->root->at;
    bool ok = best_over_read(r, value_get(report, "best_over"), &s->best_over);
    if (ok && baseline && baseline->kind != VALUE_NULL)
        ok = labels_resolve(r, baseline, "baseline", true, &s->baseline);
    return ok && best_over_refuse(r, s->baseline, "baseline") &&
           contrasts_read(r, value_get(report, "contrasts"), &s->contrasts);
}

/* ---- match ---- */

static bool read_adjust(struct reading *r, const struct value *v)
{
    static const char *const known[] = {"model.d_ff", "model.d_model", "model.n_layer"};
    r->e->match.adjust = known[0];
    if (!v)
        return true;
    for (int i = 0; i < 3; i++) {
        if (v->kind == VALUE_TEXT && strcmp(v->text, known[i]) == 0) {
            r->e->match.adjust = known[i];
            return true;
        }
    }
    mistake(r->err, v->at, "'adjust' in match must be one of ");
    error_add_names(r->err, v->kind == VALUE_TEXT ? v->text : "", known, 3);
    return false;
}

bool match_read(struct reading *r)
{
    const struct value *match = value_get(r->root, "match");
    struct match_settings *s = &r->e->match;
    if (!match || match->kind == VALUE_NULL)
        return true;
    s->at = value_key_place(r->root, "match");
    s->on = true;
    if (!(params_fill(match_rows, s, match, "match", match_keys, r->a, r->err) == PEAT_OK &&
          read_adjust(r, value_get(match, "adjust"))))
        return false;
    const struct value *to = value_get(match, "to");
    if (!to)
        return mistake(r->err, s->at,
                       "match needs 'to': the axis labels of the cells to be equal to");
    return labels_resolve(r, to, "match", true, &s->to);
}
