/* SPDX-License-Identifier: MIT */
/* ranking_table.c: ranks over tasks as a table and as JSON. */

#include "labels.h"
#include "report/numbers.h"
#include "report/ranking.h"
#include "table_builder.h"

static const char *task_label(const struct ranking *k, int task, struct arena *a)
{
    return labels_join(k->r, k->task[task], k->is_task, true, " ", a);
}

/* "copy@16" */
static const char *task_head(const struct ranking *k, int task, struct arena *a)
{
    return arena_printf(a, "%s@%" PRId64, task_label(k, task, a), k->r->length[k->length[task]]);
}

/* ---- table ---- */

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
        table_column(t, task_head(k, i, a), true);
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

/* ---- JSON ---- */

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

static void put_test(const struct ranking *k, struct json m)
{
    if (!k->tested) {
        json_put_text(m, "why_not", k->why_not);
        return;
    }
    json_put_number(m, "chi2", k->test.chi2);
    json_put_number(m, "p_chi2", k->test.p_chi2);
    json_put_number(m, "f", k->test.f);
    json_put_number(m, "p", k->test.p);
    json_put_number(m, "critical_difference", k->test.critical);
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
    put_test(k, json_put_map(m, "friedman"));
    struct json incomplete = json_put_list(m, "incomplete");
    for (int i = 0; i < k->n_incomplete; i++)
        json_add_text(incomplete, k->incomplete[i]);
    json_print(m.v, JSON_INDENTED, out);
}
