/* SPDX-License-Identifier: MIT */
/* run_settings.c: the sections run, report and match, which say how to run and compare. */

#include "cell/engine.h"
#include "plugin/params.h"
#include "reading.h"
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
    RUN(PEAT_ENUM, engine,
        "program that computes a cell's steps and evaluations: PEAT, or PyTorch "
        "with the formulas of plugins, with or without torch.compile",
        .labels = engine_words),
    RUN(PEAT_ENUM, device, "where PyTorch computes", .labels = device_words),
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
const char *const report_keys[] = {"baseline", "within", "contrasts", "best_over", NULL};
const char *const match_keys[] = {"to", "adjust", NULL};

/* ---- run.slurm ---- */

#define SLURM(type, field, ...) PARAM_ROW(type, struct slurm_settings, field, #field, __VA_ARGS__)

const peat_param slurm_rows[] = {
    SLURM(PEAT_STRING, partition, "partition; not given: the cluster's default"),
    SLURM(PEAT_STRING, account, "account that is charged; not given: the user's default"),
    SLURM(PEAT_STRING, constraint,
          "features that nodes must have, such as zen4; not given: any node"),
    SLURM(PEAT_STRING, memory,
          "memory of a task such as 500M or 4G; not given: the cluster's default"),
    SLURM(PEAT_INT, cells_per_task, "cells that a task runs one after the other", .preset = 1,
          WITHIN(1, EXPERIMENT_MAX_CELLS)),
    SLURM(PEAT_INT, max_parallel, "tasks at once; 0: as many as Slurm starts",
          WITHIN(0, EXPERIMENT_MAX_CELLS), .unit = "tasks"),
    SLURM(PEAT_INT, cpus, "processors of a task", WITHIN(1, EXPERIMENT_MAX_THREADS),
          .automatic = "run.threads", .flags = PEAT_AUTO),
    SLURM(PEAT_STRINGS, extra,
          "options of sbatch (they start with -), or lines of shell to run before the cells"),
    PEAT_PARAM_END,
};

/* Letters and digits are always allowed; others: further characters, and `allowed` has them all in
 * words. */
static bool check_characters(struct reading *r, const struct value *given, const char *key,
                             const char *others, const char *allowed)
{
    const struct value *v = value_get(given, key);
    if (!v || v->kind == VALUE_NULL)
        return true;
    for (const char *c = v->text; c && *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(others, *c))
            return mistake(r->err, v->at, "'%s' in slurm may have %s, not '%c'", key, allowed, *c);
    return true;
}

/* "4G" */
static bool is_memory(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && strspn(text, "0") < digits &&
           (!text[digits] || (strchr("KMGT", text[digits]) && !text[digits + 1]));
}

static bool check_memory(struct reading *r, const struct value *given,
                         const struct slurm_settings *s)
{
    if (!s->memory[0] || is_memory(s->memory))
        return true;
    return mistake(r->err, value_get(given, "memory")->at,
                   "'memory' in slurm must be a size such as 500M or 4G, with K, M, G or T, "
                   "not '%s'",
                   s->memory);
}

static bool check_extra(struct reading *r, const struct value *given,
                        const struct slurm_settings *s)
{
    for (int64_t i = 0; i < s->extra.n; i++)
        if (strpbrk(s->extra.item[i], "\r\n"))
            return mistake(r->err, value_get(given, "extra")->at,
                           "'extra' in slurm must be single lines; give several as a list");
    return true;
}

/* Partition and account are unquoted in the script; a constraint is in double quotes. */
static bool slurm_read(struct reading *r, const struct value *given)
{
    static const char word[] = "letters, digits, '.', '_', '+', ',' and '-'";
    static const char *const reserved[] = {"time", NULL};
    struct slurm_settings *s = &r->e->run.slurm;
    return params_fill(slurm_rows, s, given, "slurm", reserved, r->a, r->err) == PEAT_OK &&
           seconds_read(r, given, "time", "slurm", &s->time) &&
           check_characters(r, given, "partition", "._+,-", word) &&
           check_characters(r, given, "account", "._+,-", word) &&
           check_characters(r, given, "constraint", "._-:&|*,()[]",
                            "letters, digits and ._-:&|*,()[]") &&
           check_memory(r, given, s) && check_extra(r, given, s);
}

/* ---- run ---- */

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
    return gemm_check(s->gemm, &why) == PEAT_OK || mistake(r->err, given->at, "%s", why.text);
}

static bool check_device(struct reading *r, const struct value *run)
{
    const struct run_settings *s = &r->e->run;
    return s->device == DEVICE_CPU || s->engine != ENGINE_PEAT ||
           mistake(r->err, value_get(run, "device")->at,
                   "'device: cuda' needs engine: torch, since peat computes on processors");
}

bool run_read(struct reading *r)
{
    const struct value *run = value_get(r->root, "run");
    struct run_settings *s = &r->e->run;
    bool ok = params_fill(run_rows, s, run, "run", run_keys, r->a, r->err) == PEAT_OK;
    s->jobs = value_get(run, "jobs") ? s->jobs : 1;
    s->threads = value_get(run, "threads") ? s->threads : 1;
    s->no_progress = 600;
    s->plan_timeout = 30;
    return ok && check_device(r, run) &&
           params_fill(checkpoint_rows, s, value_get(run, "checkpoint"), "checkpoint", NULL, r->a,
                       r->err) == PEAT_OK &&
           seconds_read(r, run, "timeout", "run", &s->timeout) &&
           seconds_read(r, run, "no_progress", "run", &s->no_progress) &&
           seconds_read(r, run, "plan_timeout", "run", &s->plan_timeout) && read_gemm(r, run) &&
           slurm_read(r, value_get(run, "slurm"));
}

/* ---- report ---- */

/* An axis, or a list of axes. */
static bool read_within(struct reading *r, const struct value *v)
{
    bool ok = true;
    int axis;
    if (!v || v->kind == VALUE_NULL)
        return true;
    r->e->report.within = value_list(r->a, v->at);
    for (int i = 0; ok && i < value_count(v); i++) {
        ok = comparison_axis(r, value_item(v, i), "within", &axis);
        if (ok)
            value_append(r->a, r->e->report.within, value_item(v, i));
    }
    return ok;
}

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
           read_within(r, value_get(report, "within")) &&
           contrasts_read(r, value_get(report, "contrasts"), &s->contrasts);
}

/* ---- match ---- */

static bool read_adjust(struct reading *r, const struct value *v)
{
    static const char *const known[] = {"model.d_ff", "model.d_model", "model.n_layer"};
    int given = v && v->kind == VALUE_TEXT ? texts_find(known, 3, v->text) : -1;
    r->e->match.adjust = known[given < 0 ? 0 : given];
    if (!v || given >= 0)
        return true;
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
