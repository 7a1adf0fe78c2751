/* SPDX-License-Identifier: MIT */
/* results_read.c: reads run directories into rows of cells. */
#include "report/results.h"

struct reader {
    struct results *r;
    const struct results_options *options;
    int n_dir;
    char *const *dir;
    struct rundir *run;
    struct arena *a;
    struct error *err; /* set by the first step that fails */
};

/* ---- directories ---- */

static const char *axis_key(const struct value *plan, int i)
{
    return json_get_text(json_get_item(plan, "axes", i), "key");
}

static const char *list_axes(const struct reader *x, int d)
{
    const struct value *plan = x->run[d].plan;
    const char *text = NULL;
    for (int i = 0; i < json_get_count(plan, "axes"); i++)
        text = arena_item(x->a, text, "%s", axis_key(plan, i));
    return text ? text : "none";
}

static bool check_together(struct reader *x, int d)
{
    const struct value *first = x->run[0].plan, *other = x->run[d].plan;
    const char *axes = list_axes(x, 0), *other_axes = list_axes(x, d);
    if (strcmp(axes, other_axes) != 0)
        return error_fail(
            x->err, PEAT_INVALID,
            "'%s' and '%s' do not make one table: the axes of the first are %s, of the "
            "second %s",
            x->dir[0], x->dir[d], axes, other_axes);
    const char *m = json_get_text(value_get(first, "report"), "metric");
    const char *n = json_get_text(value_get(other, "report"), "metric");
    if (!x->options->metric && m && n && strcmp(m, n) != 0)
        return error_fail(
            x->err, PEAT_INVALID,
            "'%s' and '%s' do not make one table: the metric of the first is '%s', of "
            "the second '%s'; choose with --metric",
            x->dir[0], x->dir[d], *m ? m : "the task's", *n ? n : "the task's");
    const struct value *best = value_get_path(first, "report.best_over");
    const struct value *other_best = value_get_path(other, "report.best_over");
    if (!x->options->every_value &&
        !(best && other_best ? value_equal(best, other_best) : best == other_best))
        return error_fail(x->err, PEAT_INVALID,
                          "'%s' and '%s' do not make one table: their report.best_over differs; "
                          "--every-value shows them without it",
                          x->dir[0], x->dir[d]);
    return true;
}

static bool read_dir(struct reader *x, int d)
{
    if (rundir_read(x->dir[d], &x->run[d], x->a, x->err) != PEAT_OK)
        return false;
    int axes = json_get_count(x->run[d].plan, "axes");
    return axes <= EXPERIMENT_MAX_AXES
               ? d == 0 || check_together(x, d)
               : error_fail(x->err, PEAT_CORRUPT,
                            "'%s/plan.json' is damaged: it has %d axes, more than %d", x->dir[d],
                            axes, EXPERIMENT_MAX_AXES);
}

static void join_names(struct reader *x)
{
    for (int d = 0; d < x->n_dir; d++) {
        const char *name = json_get_text(x->run[d].plan, "experiment");
        bool seen = false;
        for (int e = 0; e < d; e++)
            seen = seen || strcmp(json_get_text(x->run[e].plan, "experiment"), name) == 0;
        if (!seen)
            x->r->experiment = list_add(x->a, x->r->experiment, " + ", name);
    }
}

/* The distinct texts of a list of the plans, or of its maps under `member`: shards of one
 * experiment drop and skip the same. Returns their number. */
static int list_texts(const struct reader *x, const char *key, const char *member,
                      const char ***list)
{
    const struct value *v;
    int n = 0, room = 0;
    for (int d = 0; d < x->n_dir; d++)
        for (int i = 0; (v = json_get_item(x->run[d].plan, key, i)); i++) {
            const char *text = v->kind == VALUE_TEXT ? v->text : json_get_text(v, member);
            if (text && texts_find(*list, n, text) < 0)
                *ARENA_APPEND(x->a, *list, n, room) = text;
        }
    return n;
}

/* ---- cells ---- */

/* A directory begins with the planned cells, in the plan's order. */
static void read_cells(struct reader *x)
{
    struct results *r = x->r;
    int room = 0;
    for (int d = 0; d < x->n_dir; d++) {
        const struct value *cells = value_get(x->run[d].plan, "cells");
        for (int i = 0; i < cells->n; i++) {
            const struct value *planned = cells->item[i];
            const struct cell_files *files = &x->run[d].cell[i];
            struct result_cell *c = ARENA_APPEND(x->a, r->cell, r->n_cell, room);
            *c = (struct result_cell){
                .seed = json_get_int(planned, "seed", 0),
                .directory = d,
                .reported = true,
                .state = files->state,
                .planned = planned,
                .config = files->config,
                .result = files->state == CELL_DAMAGED ? NULL : files->result,
                .meta = files->meta,
                .end = files->end,
                .id = files->id,
                .label = json_text_or(planned, "label", files->id),
                .dir = files->dir,
                .damage = files->damage,
            };
            c->may_stop = !x->options->mix_stopped &&
                          json_get_int(value_get(c->config, "train"), "patience", 0) > 0;
        }
    }
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

/* The split that is reported: the test part; without a test part all held-out data, or the half
 * that is not used for choosing. False: some cells have a test part and others do not. */
static bool choose_split(struct reader *x)
{
    const struct results *r = x->r;
    const struct value *best = value_get_path(x->run[0].plan, "report.best_over");
    bool half = best && !x->options->every_value && json_text_is(best, "by", "halves");
    const struct result_cell *with = NULL, *without = NULL;
    for (int i = 0; i < r->n_cell; i++)
        if (json_get_number(value_get(r->cell[i].config, "eval"), "test") > 0)
            with = &r->cell[i];
        else if (r->cell[i].config)
            without = &r->cell[i];
    x->r->split = with ? "test" : half ? "report" : "valid";
    if (!with || !without)
        return true;
    return error_fail(x->err, PEAT_INVALID,
                      "'%s' and '%s' do not make one table: the first is measured on a test part "
                      "(eval.test), the second on all held-out data",
                      with->dir, without->dir);
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
        for (int k = 0; (v = json_get_item(r->cell[i].result, "measures", k)); k++) {
            struct result_metric *m = add_metric(r, json_get_text(v, "metric"));
            const char *split = json_get_text(v, "split");
            if (m && split && (!m->split || strcmp(split, wanted) == 0))
                m->split = split;
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
    const struct value *report = value_get(x->run[0].plan, "report");
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
        const struct value *result = r->cell[i].result, *m;
        const char *unit = json_get_text(result, "length_unit");
        if (unit && !*r->length_unit)
            r->length_unit = unit;
        for (int k = 0; (m = json_get_item(result, "measures", k)); k++) {
            int64_t length = json_get_int(m, "length", 0);
            if (!same_text(json_get_text(m, "metric"), r->metric) ||
                !same_text(json_get_text(m, "split"), r->split) ||
                integers_hold(r->length, r->n_length, length))
                continue;
            if (r->n_length == RESULTS_MAX_LENGTHS)
                return error_fail(x->err, PEAT_INVALID,
                                  "more than %d evaluation lengths in one table",
                                  RESULTS_MAX_LENGTHS);
            r->length[r->n_length++] = length;
        }
    }
    sort_integers(r->length, r->n_length);
    return true;
}

static void read_values(struct results *r)
{
    for (int i = 0; i < r->n_cell; i++) {
        struct result_cell *c = &r->cell[i];
        for (int l = 0; l < r->n_length; l++) {
            const struct value *m = result_measure(c->result, r->metric, r->split, r->length[l]);
            c->value[l] = json_get_number(m, "value");
            c->untrained[l] = json_get_bool(m, "untrained");
            c->not_finite[l] = m && result_counts(c) && !isfinite(c->value[l]);
        }
    }
}

/* ---- rows ---- */

/* Two directories may have the same row if its settings are equal; its data may be elsewhere. */
static bool check_same_setting(struct reader *x, const struct result_row *row,
                               const struct result_cell *c)
{
    static const char *const section[] = {"task", "model", "position", "train"};
    const struct result_cell *first = row->cell[0];
    const char *one = json_get_text(first->config, "setting");
    const char *two = json_get_text(c->config, "setting");
    if (one && two && !strcmp(one, two))
        return true;
    for (size_t i = 0; i < sizeof(section) / sizeof(*section); i++) {
        if (value_differs(value_get(first->config, section[i]), value_get(c->config, section[i])))
            return error_fail(x->err, PEAT_INVALID,
                              "'%s' and '%s' do not make one table: both have the row '%s', and "
                              "their settings of '%s' differ",
                              first->dir, c->dir, results_row_label(x->r, row, x->a), section[i]);
    }
    if (one && two)
        return error_fail(x->err, PEAT_INVALID,
                          "'%s' and '%s' do not make one table: both have the row '%s', and the "
                          "content of their data or plugins differs",
                          first->dir, c->dir, results_row_label(x->r, row, x->a));
    return true;
}

/* True where the weights are the same and all values that both measured are equal. */
static bool same_bits(const struct value *x, const struct value *y)
{
    const struct value *m, *k;
    if (!value_equal(value_get(x, "weights_hash"), value_get(y, "weights_hash")))
        return false;
    for (int i = 0; (m = json_get_item(x, "measures", i)); i++) {
        k = result_measure(y, json_get_text(m, "metric"), json_get_text(m, "split"),
                           json_get_int(m, "length", 0));
        if (k && !value_equal(value_get(m, "value"), value_get(k, "value")))
            return false;
    }
    return true;
}

static void leave_out(struct reader *x, const struct result_cell *counts, struct result_cell *other)
{
    other->left_out = true;
    if (counts->result && other->result && !same_bits(counts->result, other->result))
        *ARENA_APPEND(x->a, x->r->rival, x->r->n_rival, x->r->rival_room) =
            (struct result_rival){counts, other};
}

/* If two directories have the cell, the copy with more values counts. */
static void place_cell(struct reader *x, struct result_row *row, struct result_cell *c)
{
    int at = 0;
    while (at < row->n_cell && row->cell[at]->seed < c->seed)
        at++;
    if (at < row->n_cell && row->cell[at]->seed == c->seed) {
        struct result_cell *was = row->cell[at];
        bool more = json_get_count(c->result, "measures") > json_get_count(was->result, "measures");
        if (result_counts(c) && (!result_counts(was) || more))
            row->cell[at] = c;
        leave_out(x, row->cell[at], row->cell[at] == c ? was : c);
        return;
    }
    memmove(&row->cell[at + 1], &row->cell[at],
            (size_t)(row->n_cell - at) * sizeof(struct result_cell *));
    row->cell[at] = c;
    row->n_cell++;
}

/* "peat", or the first word of trained_by: "PyTorch". */
static const char *engine_of(struct reader *x, const struct result_cell *c)
{
    const char *by = json_get_text(c->meta, "trained_by");
    return by ? arena_printf(x->a, "%.*s", (int)strcspn(by, " ,"), by) : "peat";
}

/* True where another directory has the same cell, trained by another engine. */
static bool has_other_engine(struct reader *x, const struct result_cell *c)
{
    for (int i = 0; i < x->r->n_cell; i++) {
        const struct result_cell *other = &x->r->cell[i];
        if (result_counts(other) && strcmp(other->id, c->id) == 0 &&
            strcmp(engine_of(x, other), engine_of(x, c)) != 0)
            return true;
    }
    return false;
}

/* The same cells of two engines in two directories are rows of their own, which an axis names. */
static void add_engine_axis(struct reader *x)
{
    struct results *r = x->r;
    bool found = false;
    for (int i = 0; i < r->n_cell && x->n_dir > 1 && !found; i++)
        found = json_get_text(r->cell[i].meta, "trained_by") && result_counts(&r->cell[i]) &&
                has_other_engine(x, &r->cell[i]);
    if (found && r->n_axis < EXPERIMENT_MAX_AXES)
        r->axis[r->n_axis++] = "trained_by";
}

static const char *label_of(struct reader *x, const struct result_cell *c, int axis)
{
    const char *key = x->r->axis[axis];
    return strcmp(key, "trained_by") == 0 ? engine_of(x, c)
                                          : json_text_or(value_get(c->planned, "axes"), key, "-");
}

/* Rows in the order in which the plan first names them. */
static bool make_rows(struct reader *x)
{
    struct results *r = x->r;
    add_engine_axis(x);
    r->row = ARENA_ARRAY(x->a, r->n_cell, struct result_row);
    r->seed = ARENA_ARRAY(x->a, r->n_cell, int64_t);
    for (int i = 0; i < r->n_cell; i++)
        if (!integers_hold(r->seed, r->n_seed, r->cell[i].seed))
            r->seed[r->n_seed++] = r->cell[i].seed;
    sort_integers(r->seed, r->n_seed);
    for (int i = 0; i < r->n_cell; i++) {
        const char *label[EXPERIMENT_MAX_AXES];
        for (int k = 0; k < r->n_axis; k++)
            label[k] = label_of(x, &r->cell[i], k);
        int at = 0;
        while (at < r->n_row && !labels_alike(r->n_axis, r->row[at].axis, label, NULL, true))
            at++;
        struct result_row *row = &r->row[at];
        if (at == r->n_row) {
            r->n_row++;
            memcpy(row->axis, label, sizeof(label));
            row->cell = ARENA_ARRAY(x->a, r->n_seed, struct result_cell *);
            row->baseline = -1;
        } else if (x->n_dir > 1 && !check_same_setting(x, row, &r->cell[i])) {
            return false;
        }
        place_cell(x, row, &r->cell[i]);
    }
    return true;
}

bool result_has_value(const struct results *r, const struct result_cell *c)
{
    for (int l = 0; l < r->n_length; l++)
        if (isfinite(c->value[l]))
            return true;
    return false;
}

static const struct value *any_result(const struct result_row *row)
{
    for (int i = 0; i < row->n_cell; i++)
        if (row->cell[i]->result)
            return row->cell[i]->result;
    return NULL;
}

/* Rows without results count as equal. */
static bool same_measures(const struct result_row *x, const struct result_row *y)
{
    const struct value *a = any_result(x), *b = any_result(y);
    const struct value *p = value_get(a, "metrics"), *q = value_get(b, "metrics");
    const char *unit = json_get_text(a, "length_unit"), *other = json_get_text(b, "length_unit");
    return (!p || !q || value_equal(p, q)) && (!unit || !other || strcmp(unit, other) == 0);
}

/* Whether the tasks have equal settings, with files of the same content: shards of two machines
 * have their data at different paths. */
static bool same_settings(const struct result_cell *x, const struct result_cell *y, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    bool same = value_equal(value_get(x->config, "task"), value_get(y->config, "task")) ||
                value_equal(value_get(cell_files_without_paths(x->config, x->meta, a), "task"),
                            value_get(cell_files_without_paths(y->config, y->meta, a), "task"));
    arena_rewind(a, mark);
    return same;
}

/* Without a configuration only the plugins' names in the plan are compared. Tasks with `auto`
 * settings (text: the objective) differ between values of model.arch, and rows that stop early are
 * not ranked with rows that do not. */
static bool same_task(const struct result_row *x, const struct result_row *y, struct arena *arena)
{
    const struct value *p = x->cell[0]->config, *q = y->cell[0]->config;
    const struct value *a = value_get(p, "task"), *b = value_get(q, "task");
    if (!a || !b)
        return same_text(json_get_text(x->cell[0]->planned, "task"),
                         json_get_text(y->cell[0]->planned, "task"));
    const struct value *arch = value_get_path(p, "model.arch");
    const struct value *other = value_get_path(q, "model.arch");
    bool same_part = value_equal(value_get_path(p, "eval.test"), value_get_path(q, "eval.test"));
    bool same_arch = !arch || !other || value_equal(arch, other), open = false;
    for (int i = 0; a->kind == VALUE_MAP && i < a->n; i++)
        open = open || json_text_is(a, a->key[i], "auto");
    return same_settings(x->cell[0], y->cell[0], arena) && same_part && (same_arch || !open) &&
           x->cell[0]->may_stop == y->cell[0]->may_stop;
}

static void number_tasks(struct results *r, struct arena *a)
{
    for (int i = 0; i < r->n_row; i++) {
        struct result_row *row = &r->row[i];
        int first = 0;
        while (first < i &&
               !(same_task(&r->row[first], row, a) && same_measures(&r->row[first], row)))
            first++;
        row->task = first < i ? r->row[first].task : r->n_task++;
        for (int k = 0; k < row->n_cell; k++)
            row->cell[k]->task = row->task;
    }
}

static double median_of(const struct result_row *row, const char *key, double *room)
{
    int n = 0;
    for (int i = 0; i < row->n_cell; i++) {
        double x = json_get_number(row->cell[i]->result, key);
        if (result_counts(row->cell[i]) && isfinite(x))
            room[n++] = x;
    }
    return stats_median(room, n);
}

/* Numbers of the plan are the same for all seeds. */
static void read_quantities(struct result_row *row, double *room)
{
    quantities_read(row->cell[0]->planned, IN_PLAN, row->q);
    for (int i = 0; i < QUANTITIES; i++)
        if (!(quantities[i].files & IN_PLAN))
            row->q[i] = median_of(row, quantities[i].key, room);
}

const char *row_text(const struct result_row *row, const char *key)
{
    return json_get_text(row->cell[0]->planned, key);
}

bool results_have(const struct results *r, enum quantity_name q)
{
    bool sparse = quantities[q].flags & QUANTITY_SPARSE, found = false;
    for (int i = 0; i < r->n_row && !found; i++)
        found = isfinite(r->row[i].q[q]) && !(sparse && r->row[i].q[q] == 0.0);
    return found;
}

static void count_steps(struct result_row *row, const struct result_cell *c)
{
    int64_t steps = json_get_int(c->result, "steps", 0);
    if (!result_counts(c))
        return;
    row->stopped += json_get_bool(c->result, "stopped");
    row->steps_most = steps > row->steps_most ? steps : row->steps_most;
    row->steps_least = row->steps_least == 0 || steps < row->steps_least ? steps : row->steps_least;
}

static void count_states(struct result_row *row)
{
    for (int i = 0; i < row->n_cell; i++) {
        enum cell_state state = row->cell[i]->state;
        count_steps(row, row->cell[i]);
        row->diverged += state == CELL_DIVERGED;
        row->stale += state == CELL_STALE;
        row->decided += state == CELL_DECIDED;
        row->damaged += state == CELL_DAMAGED;
        row->failed += cell_has_failed(state);
        row->drifted += state == CELL_DONE && json_get_count(row->cell[i]->result, "drift") > 0;
        row->missing += state == CELL_TODO || state == CELL_RUNNING || state == CELL_PARTIAL ||
                        state == CELL_WAITING;
    }
}

/* ---- reading everything ---- */

/* The claims of the first directory are judged by the cells of all. */
static bool read_registrations(struct reader *x)
{
    for (int d = 0; d < x->n_dir; d++) {
        struct claims_kept kept;
        const char *head = x->n_dir > 1 ? arena_printf(x->a, "%s: ", x->dir[d]) : "";
        if (claims_kept_read(x->dir[d], &kept, x->a, x->err) != PEAT_OK)
            return false;
        registration_add(&x->r->registration, head, &kept, d ? 1 : x->n_dir, x->run + d, x->a);
        if (d == 0 && !x->options->every_value)
            x->r->claims = kept;
    }
    return true;
}

static bool read_report(struct reader *x)
{
    struct results *r = x->r;
    const struct value *plan = x->run[0].plan, *report = value_get(plan, "report");
    const struct value *baseline = value_get(report, "baseline");
    const struct value *contrasts = value_get(report, "contrasts");
    r->n_dir = x->n_dir;
    r->dir = x->run;
    r->n_axis = json_get_count(plan, "axes");
    for (int i = 0; i < r->n_axis; i++)
        r->axis[i] = axis_key(plan, i);
    r->baseline = baseline && baseline->kind == VALUE_MAP ? baseline : NULL;
    if (!x->options->every_value)
        r->contrasts = contrasts && contrasts->kind == VALUE_LIST ? contrasts : NULL;
    return read_registrations(x);
}

static bool read_results(struct reader *x)
{
    join_names(x);
    const char **skipped = NULL;
    x->r->n_dropped = list_texts(x, "dropped", "", &x->r->dropped);
    x->r->n_skipped = list_texts(x, "skipped", "label", &skipped);
    read_cells(x);
    if (!choose_split(x))
        return false;
    list_metrics(x->r, x->r->split);
    if (!choose_metric(x) || !list_lengths(x))
        return false;
    read_values(x->r);
    return make_rows(x);
}

peat_status results_read(struct results *r, int n_dir, char *const *dir,
                         const struct results_options *o, struct arena *a, struct error *err)
{
    *r = (struct results){.metric = "", .length_unit = "", .test = o->test};
    struct reader x = {r, o, n_dir, dir, NULL, a, err};
    x.run = ARENA_ARRAY(a, n_dir, struct rundir);
    for (int d = 0; d < n_dir; d++)
        if (!read_dir(&x, d))
            return err->status;
    if (!read_report(&x) || !read_results(&x))
        return err->status;
    number_tasks(r, a);
    peat_status status = o->every_value ? PEAT_OK : best_rows_keep(r, a, err);
    if (status != PEAT_OK)
        return status;
    double *room = ARENA_ARRAY(a, r->n_seed, double);
    for (int i = 0; i < r->n_row; i++) {
        count_states(&r->row[i]);
        read_quantities(&r->row[i], room);
    }
    return results_compare(r, o, a, err);
}
