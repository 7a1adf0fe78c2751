/* SPDX-License-Identifier: MIT */
/* ranking.c: from rows to ranks over tasks, as a table and as JSON. */
#include "report/ranking.h"

#include "labels.h"
#include "report/numbers.h"
#include "table_builder.h"

/* ---- tasks and methods ---- */

static bool is_task_axis(const struct results *r, int axis)
{
    bool one[EXPERIMENT_MAX_AXES] = {[0] = false};
    one[axis] = true;
    for (int i = 0; i < r->n_row; i++)
        for (int j = 0; j < i; j++)
            if (r->row[i].task != r->row[j].task &&
                labels_alike(r->n_axis, r->row[i].axis, r->row[j].axis, one, false) &&
                strcmp(r->row[i].axis[axis], r->row[j].axis[axis]) != 0)
                return true;
    return strcmp(r->axis[axis], "task") == 0;
}

/* The first length at which the task has values; -1: no length. */
static int first_length(const struct ranking *k, const struct result_row *task)
{
    for (int l = 0; l < k->r->n_length; l++)
        for (int i = 0; i < k->r->n_row; i++)
            if (k->r->row[i].at[l].n &&
                labels_alike(k->r->n_axis, k->r->row[i].axis, task->axis, k->is_task, true))
                return l;
    return -1;
}

static double value_at(const struct ranking *k, int task, const struct result_row *method)
{
    const struct result_row *row = labels_crossing(k->r, k->is_task, k->task[task], method);
    return row && k->length[task] >= 0 ? row->at[k->length[task]].mean : (double)NAN;
}

static peat_status find_tasks(struct ranking *k, int64_t length, struct arena *a, struct error *err)
{
    const struct results *r = k->r;
    bool any = false;
    int only;
    for (int i = 0; i < r->n_axis; i++) {
        k->is_task[i] = is_task_axis(r, i);
        any = any || k->is_task[i];
    }
    if (!any)
        return error_set(err, PEAT_INVALID,
                         "option '--ranks': no axis of '%s' is one of tasks or data sets; ranks "
                         "are over tasks, not over seeds",
                         r->experiment);
    if (results_find_length(r, length, &only, a, err) != PEAT_OK)
        return PEAT_INVALID;
    k->task = ARENA_ARRAY(a, r->n_row, const struct result_row *);
    k->length = ARENA_ARRAY(a, r->n_row, int);
    for (int i = 0; i < r->n_row; i++)
        k->n = labels_collect(r, &r->row[i], k->is_task, true, k->task, k->n);
    for (int i = 0; i < k->n; i++)
        k->length[i] = length >= 0 ? only : first_length(k, k->task[i]);
    return PEAT_OK;
}

static void find_methods(struct ranking *k, struct arena *a)
{
    const struct results *r = k->r;
    const struct result_row **all = ARENA_ARRAY(a, r->n_row, const struct result_row *);
    int n = 0;
    for (int i = 0; i < r->n_row; i++)
        n = labels_collect(r, &r->row[i], k->is_task, false, all, n);
    k->method = ARENA_ARRAY(a, n, struct ranked_method);
    k->incomplete = ARENA_ARRAY(a, n, const char *);
    for (int i = 0; i < n; i++) {
        bool complete = true;
        for (int t = 0; t < k->n; t++)
            complete = complete && isfinite(value_at(k, t, all[i]));
        if (complete) {
            k->method[k->k] = (struct ranked_method){.row = all[i], .column = k->k};
            k->k++;
        } else {
            k->incomplete[k->n_incomplete++] = labels_join(r, all[i], k->is_task, false, ".", a);
        }
    }
}

/* ---- ranks and scores ---- */

static void fill_ranks(struct ranking *k, struct arena *a)
{
    double *cost = ARENA_ARRAY(a, k->k, double);
    k->value = ARENA_ARRAY(a, k->n * k->k, double);
    k->rank = ARENA_ARRAY(a, k->n * k->k, double);
    for (int t = 0; t < k->n; t++) {
        for (int j = 0; j < k->k; j++) {
            double x = value_at(k, t, k->method[j].row);
            k->value[t * k->k + j] = x;
            cost[j] = k->r->goal_max ? -x : x;
        }
        mean_ranks(cost, k->k, &k->rank[t * k->k]);
    }
    for (int j = 0; j < k->k; j++) {
        double sum = 0.0;
        for (int t = 0; t < k->n; t++)
            sum += k->rank[t * k->k + j];
        k->method[j].mean_rank = sum / k->n;
    }
}

static double baseline_of(const struct ranking *k, int task, int method)
{
    const struct result_row *row =
        labels_crossing(k->r, k->is_task, k->task[task], k->method[method].row);
    return row->baseline >= 0 ? k->r->row[row->baseline].at[k->length[task]].mean : (double)NAN;
}

static double best_of(const struct ranking *k, int task)
{
    double best = k->value[task * k->k];
    for (int j = 1; j < k->k; j++)
        best = k->r->goal_max ? fmax(best, k->value[task * k->k + j])
                              : fmin(best, k->value[task * k->k + j]);
    return best;
}

static bool has_score(const struct ranking *k, int task)
{
    double best = best_of(k, task);
    for (int j = 0; j < k->k; j++) {
        double b = baseline_of(k, task, j);
        if (!(k->r->goal_max ? best > b : best < b))
            return false;
    }
    return true;
}

static void fill_scores(struct ranking *k)
{
    for (int t = 0; t < k->n; t++)
        k->n_score += has_score(k, t);
    for (int j = 0; j < k->k; j++) {
        double score = 0.0, logs = 0.0;
        for (int t = 0; t < k->n; t++) {
            double x = k->value[t * k->k + j], b = baseline_of(k, t, j);
            if (has_score(k, t))
                score += (x - b) / (best_of(k, t) - b);
            logs += x > 0.0 && b > 0.0 ? log(x / b) : (double)NAN;
        }
        k->method[j].score = k->n_score ? score / k->n_score : (double)NAN;
        k->method[j].ratio = exp(logs / k->n);
    }
}

static void test_ranks(struct ranking *k, struct arena *a)
{
    enum { TASKS_MIN = 5 };
    if (k->n < TASKS_MIN)
        k->why_not = arena_printf(a, "%d task%s: fewer than %d, too few to test ranks", k->n,
                                  plural(k->n), TASKS_MIN);
    else if (k->k < 3)
        k->why_not = arena_printf(a, "%d method%s: Friedman's test compares three or more", k->k,
                                  plural(k->k));
    k->tested = !k->why_not;
    if (!k->tested)
        return;
    friedman_test(k->rank, k->k, k->n, &k->test);
    double best = (double)INFINITY;
    for (int j = 0; j < k->k; j++)
        best = fmin(best, k->method[j].mean_rank);
    for (int j = 0; j < k->k; j++)
        k->method[j].best = k->method[j].mean_rank - best < k->test.critical;
}

/* Best first; equal ones stay in the order of the plan. */
static void sort_methods(struct ranking *k, struct arena *a)
{
    const struct ranked_method *was = k->method;
    double *mean_rank = ARENA_ARRAY(a, k->k, double);
    int64_t *place = ARENA_ARRAY(a, k->k, int64_t);
    for (int j = 0; j < k->k; j++)
        mean_rank[j] = was[j].mean_rank;
    sort_places(mean_rank, k->k, place);
    k->method = ARENA_ARRAY(a, k->k, struct ranked_method);
    for (int j = 0; j < k->k; j++)
        k->method[j] = was[place[j]];
}

peat_status ranking_make(struct ranking *k, const struct results *r, int64_t length,
                         struct arena *a, struct error *err)
{
    *k = (struct ranking){.r = r};
    peat_status status = find_tasks(k, length, a, err);
    if (status != PEAT_OK)
        return status;
    find_methods(k, a);
    if (k->k == 0)
        return error_set(err, PEAT_INVALID,
                         "option '--ranks': no row has a value of '%s' on every task", r->metric);
    fill_ranks(k, a);
    fill_scores(k);
    test_ranks(k, a);
    sort_methods(k, a);
    return PEAT_OK;
}

/* ---- as a table ---- */

static const char *task_label(const struct ranking *k, int task, struct arena *a)
{
    return labels_join(k->r, k->task[task], k->is_task, true, " ", a);
}

static void add_columns(const struct ranking *k, struct arena *a, struct table *t)
{
    const struct results *r = k->r;
    for (int i = 0; i < r->n_axis; i++)
        if (!k->is_task[i])
            table_column(t, results_axis_name(r, i), false);
    t->n_label = t->n_column;
    table_column(t, "mean rank", true);
    table_column(t, "score", true);
    table_column(t, "ratio", true);
    for (int i = 0; i < k->n; i++)
        table_column(
            t, arena_printf(a, "%s@%" PRId64, task_label(k, i, a), r->length[k->length[i]]), true);
}

static void add_method(const struct ranking *k, int j, struct arena *a, struct table *t)
{
    const struct ranked_method *m = &k->method[j];
    for (int i = 0; i < k->r->n_axis; i++)
        if (!k->is_task[i])
            table_text(t, m->row->axis[i]);
    struct table_cell rank = table_number(a, "%.2f", m->mean_rank);
    rank.strong = m->best;
    table_cell(t, rank);
    table_cell(t, table_number(a, "%+.3f", m->score));
    table_cell(t, table_number(a, "%.4f", m->ratio));
    for (int task = 0; task < k->n; task++)
        table_cell(t, table_number(a, "%g", k->rank[task * k->k + m->column]));
}

static void add_notes(const struct ranking *k, struct table *t)
{
    const struct friedman *f = &k->test;
    if (k->tested) {
        table_note(t, "Friedman's test (Iman-Davenport F = %.3g, %d methods, %d tasks): p %s", f->f,
                   f->k, f->n, number_p(t->arena, f->p));
        table_note(t, "Nemenyi: mean ranks that differ by less than %.2f are not separable at .05",
                   f->critical);
    } else {
        table_note(t, "no test: %s", k->why_not);
    }
    if (k->r->baseline_text && k->n_score)
        table_note(
            t, "score: mean over %d task%s of (x - baseline) / (best - baseline); baseline (%s)",
            k->n_score, plural(k->n_score), k->r->baseline_text);
    table_note(t, k->r->baseline_text ? "ratio: geometric mean over tasks of x / baseline"
                                      : "score and ratio need a baseline: --baseline ROW");
    for (int i = 0; i < k->n_incomplete; i++)
        if (i == 0 || i == k->n_incomplete - 1)
            table_note(t, i == 0 ? "not ranked, without a value on every task: %s" : "... %s",
                       k->incomplete[i]);
}

void ranking_table(const struct ranking *k, struct arena *a, struct table *t)
{
    *t = (struct table){
        .arena = a,
        .strong = "best mean rank, and all that are less than the critical difference from it"};
    t->title = arena_printf(a, "%s: ranks by %s (%s is better) within each task; 1 is best",
                            k->r->experiment, k->r->metric, k->r->goal_max ? "higher" : "lower");
    add_columns(k, a, t);
    for (int j = 0; j < k->k; j++)
        add_method(k, j, a, t);
    t->any_strong = k->tested;
    add_notes(k, t);
}

/* ---- as JSON ---- */

static void add_method_json(const struct ranking *k, int j, struct json methods)
{
    struct json m = json_add_map(methods), axes = json_put_map(m, "axes");
    for (int i = 0; i < k->r->n_axis; i++)
        if (!k->is_task[i])
            json_put_text(axes, k->r->axis[i], k->method[j].row->axis[i]);
    json_put_number(m, "mean_rank", k->method[j].mean_rank);
    json_put_number(m, "score", k->method[j].score);
    json_put_number(m, "ratio", k->method[j].ratio);
    const int column = k->method[j].column;
    struct json ranks = json_put_map(m, "ranks"), values = json_put_map(m, "values");
    for (int t = 0; t < k->n; t++) {
        json_put_number(ranks, task_label(k, t, m.a), k->rank[t * k->k + column]);
        json_put_number(values, task_label(k, t, m.a), k->value[t * k->k + column]);
    }
}

void ranking_json(const struct ranking *k, struct arena *a, struct strbuf *out)
{
    struct json m = json_map(a);
    json_put_text(m, "experiment", k->r->experiment);
    json_put_text(m, "metric", k->r->metric);
    json_put_text(m, "goal", k->r->goal_max ? "max" : "min");
    json_put_text(m, "baseline", k->r->baseline_text);
    struct json lengths = json_put_map(m, "lengths");
    for (int t = 0; t < k->n; t++)
        json_put_int(lengths, task_label(k, t, a), k->r->length[k->length[t]]);
    json_put_int(m, "tasks_in_score", k->n_score);
    struct json methods = json_put_list(m, "methods");
    for (int j = 0; j < k->k; j++)
        add_method_json(k, j, methods);
    struct json test = json_put_map(m, "friedman");
    if (k->tested) {
        json_put_number(test, "chi2", k->test.chi2);
        json_put_number(test, "p_chi2", k->test.p_chi2);
        json_put_number(test, "f", k->test.f);
        json_put_number(test, "p", k->test.p);
        json_put_number(test, "critical_difference", k->test.critical);
    } else {
        json_put_text(test, "why_not", k->why_not);
    }
    struct json incomplete = json_put_list(m, "incomplete");
    for (int i = 0; i < k->n_incomplete; i++)
        json_add_text(incomplete, k->incomplete[i]);
    json_print(m.v, JSON_INDENTED, out);
}
