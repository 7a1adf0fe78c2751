/* SPDX-License-Identifier: MIT */
/*
 * measures.c: the numbers of cells, each of a metric on a split at a length.
 *
 * csv prints each on a line; rows are made of those of one metric and split.
 */
#include "results_parts.h"

/* ---- one cell ---- */

struct measured measure_of(const struct value *v)
{
    return (struct measured){
        .metric = json_get_text(v, "metric"),
        .split = json_get_text(v, "split"),
        .length = json_get_int(v, "length", -1),
        .step = json_get_int(v, "step", -1),
        .value = json_get_number(v, "value"),
        .untrained = json_get_bool(v, "untrained"),
    };
}

static void measures_read_cell(struct result_cell *c, struct arena *a)
{
    const struct value *v;
    struct measured *m = ARENA_ARRAY(a, json_get_count(c->result, "measures"), struct measured);
    c->measure = m;
    for (; (v = json_get_item(c->result, "measures", c->n_measure)); c->n_measure++)
        m[c->n_measure] = measure_of(v);
}

const struct measured *cell_measure(const struct result_cell *c, const char *metric,
                                    const char *split, int64_t length)
{
    const struct measured *found = NULL;
    for (const struct measured *m = c->measure; m < c->measure + c->n_measure; m++)
        if (same_text(m->metric, metric) && same_text(m->split, split) &&
            (length < 0 || m->length == length) && (!found || m->length < found->length))
            found = m;
    return found;
}

/* ---- metric and lengths ---- */

int results_metric(const struct results *r, const char *name)
{
    for (int i = 0; i < r->n_metric; i++)
        if (same_text(r->known[i].name, name))
            return i;
    return -1;
}

static struct result_metric *add_metric(struct results *r, const char *name)
{
    int i = results_metric(r, name);
    if (i < 0 && name && r->n_metric < RESULTS_MAX_METRICS) {
        i = r->n_metric++;
        r->known[i] = (struct result_metric){name, NULL, false};
    }
    return i < 0 ? NULL : &r->known[i];
}

const char *results_part(const char *split)
{
    static const char *const words[][2] = {
        {"train", "on the training batch"},
        {"valid", "on the validation data"},
        {"report", "on the reported half of the validation data"},
        {"test", "on the test part"}};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (same_text(split, words[i][0]))
            return words[i][1];
    return "";
}

/* The task's metrics in its order, then other measures: the training loss. */
static void list_metrics(struct results *r, const char *wanted)
{
    const struct value *v;
    for (int i = 0; i < r->n_cell; i++)
        for (int k = 0; (v = json_get_item(r->cell[i].result, "metrics", k)); k++) {
            struct result_metric *m = add_metric(r, json_get_text(v, "name"));
            if (m)
                m->goal_max = json_text_is(v, "goal", "max");
        }
    for (int i = 0; i < r->n_cell; i++)
        for (int k = 0; k < r->cell[i].n_measure; k++) {
            const struct measured *own = &r->cell[i].measure[k];
            struct result_metric *m = add_metric(r, own->metric);
            if (m && (!m->split || strcmp(own->split, wanted) == 0))
                m->split = own->split;
        }
}

static bool unknown_metric(struct reader *x)
{
    const struct results *r = x->r;
    const char *name[RESULTS_MAX_METRICS];
    for (int i = 0; i < r->n_metric; i++)
        name[i] = r->known[i].name;
    error_set(x->err, PEAT_INVALID, "no finished cell has the metric '%s'; there are ", r->metric);
    error_add_names(x->err, r->metric, name, r->n_metric);
    return false;
}

static bool choose_metric(struct reader *x)
{
    struct results *r = x->r;
    const struct value *report = value_get(x->r->dir[0].plan, "report");
    const char *asked = x->options->metric, *wanted = json_get_text(report, "metric");
    const char *goal = json_get_text(report, "goal");
    const char *main_metric = wanted && *wanted ? wanted : r->n_metric ? r->known[0].name : "";
    r->metric = asked ? asked : main_metric;
    if (r->n_metric == 0)
        return true;
    int known = results_metric(r, r->metric);
    if (known < 0)
        return unknown_metric(x);
    const struct result_metric *m = &r->known[known];
    r->split = m->split ? m->split : r->split;
    r->goal_max = m->goal_max;
    if (goal && strcmp(goal, "metric") != 0 && strcmp(r->metric, main_metric) == 0)
        r->goal_max = strcmp(goal, "max") == 0;
    return true;
}

static bool list_lengths(struct reader *x)
{
    struct results *r = x->r;
    r->length_unit = "";
    for (int i = 0; i < r->n_cell; i++) {
        const struct result_cell *c = &r->cell[i];
        const char *unit = json_get_text(c->result, "length_unit");
        if (unit && !*r->length_unit)
            r->length_unit = unit;
        for (const struct measured *m = c->measure; m < c->measure + c->n_measure; m++) {
            if (strcmp(m->metric, r->metric) != 0 || strcmp(m->split, r->split) != 0 ||
                integers_hold(r->length, r->n_length, m->length))
                continue;
            if (r->n_length == RESULTS_MAX_LENGTHS)
                return error_fail(x->err, PEAT_INVALID,
                                  "more than %d evaluation lengths in one table",
                                  RESULTS_MAX_LENGTHS);
            r->length[r->n_length++] = m->length;
        }
    }
    sort_integers(r->length, r->n_length);
    return true;
}

bool measures_read(struct reader *x)
{
    struct results *r = x->r;
    for (int i = 0; i < r->n_cell; i++)
        measures_read_cell(&r->cell[i], x->a);
    list_metrics(r, r->split);
    if (!choose_metric(x) || !list_lengths(x))
        return false;
    for (int i = 0; i < r->n_cell; i++)
        for (int l = 0; l < r->n_length; l++)
            r->cell[i].at[l] = cell_measure(&r->cell[i], r->metric, r->split, r->length[l]);
    return true;
}

bool result_has_value(const struct results *r, const struct result_cell *c)
{
    for (int l = 0; l < r->n_length; l++)
        if (isfinite(result_value(c, l)))
            return true;
    return false;
}
