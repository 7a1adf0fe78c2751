/* SPDX-License-Identifier: MIT */
/* results_join.c: which directories, cells and rows fit together. */
#include "results_parts.h"

/* The error that two directories or cells do not make one table, which ends in the reason. */
__attribute__((format(printf, 4, 5))) static bool
join_refuse(struct reader *x, const char *one, const char *other, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    error_set(x->err, PEAT_INVALID, "'%s' and '%s' do not make one table: %s", one, other,
              arena_vprintf(x->a, fmt, args));
    va_end(args);
    return false;
}

/* ---- directories ---- */

static const char *list_axes(const struct reader *x, const struct rundir *run)
{
    const struct value *axis;
    const char *text = NULL;
    for (int i = 0; (axis = json_get_item(run->plan, "axes", i)); i++)
        text = arena_item(x->a, text, "%s", json_get_text(axis, "key"));
    return text ? text : "none";
}

static bool check_together(struct reader *x, const struct rundir *first, const struct rundir *run)
{
    const struct value *report = value_get(first->plan, "report"),
                       *other = value_get(run->plan, "report");
    const char *axes = list_axes(x, first), *other_axes = list_axes(x, run);
    if (strcmp(axes, other_axes) != 0)
        return join_refuse(x, first->path, run->path,
                           "the axes of the first are %s, of the second %s", axes, other_axes);
    const char *m = json_get_text(report, "metric"), *n = json_get_text(other, "metric");
    if (!x->options->metric && m && n && strcmp(m, n) != 0)
        return join_refuse(x, first->path, run->path,
                           "the metric of the first is '%s', of the second '%s'; choose with "
                           "--metric",
                           *m ? m : "the task's", *n ? n : "the task's");
    const struct value *best = value_get(report, "best_over");
    const struct value *other_best = value_get(other, "best_over");
    if (!x->options->every_value &&
        !(best && other_best ? value_equal(best, other_best) : best == other_best))
        return join_refuse(x, first->path, run->path,
                           "their report.best_over differs; --every-value shows them without it");
    return true;
}

static bool check_axes(struct reader *x, const struct rundir *run)
{
    int axes = json_get_count(run->plan, "axes");
    return axes <= EXPERIMENT_MAX_AXES ||
           error_fail(x->err, PEAT_CORRUPT,
                      "'%s/plan.json' is damaged: it has %d axes, more than %d", run->path, axes,
                      EXPERIMENT_MAX_AXES);
}

bool join_directories(struct reader *x, int n_dir, char *const *dir)
{
    struct results *r = x->r;
    struct rundir *run = ARENA_ARRAY(x->a, n_dir, struct rundir);
    r->dir = run;
    for (r->n_dir = 0; r->n_dir < n_dir; r->n_dir++) {
        struct rundir *next = &run[r->n_dir];
        if (rundir_read(dir[r->n_dir], next, x->a, x->err) != PEAT_OK || !check_axes(x, next) ||
            (r->n_dir && !check_together(x, run, next)))
            return false;
    }
    return true;
}

bool join_split(struct reader *x)
{
    const struct results *r = x->r;
    const struct value *best = value_get_path(x->r->dir[0].plan, "report.best_over");
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
    return join_refuse(x, with->dir, without->dir,
                       "the first is measured on a test part (eval.test), the second on all "
                       "held-out data");
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
            return join_refuse(x, first->dir, c->dir,
                               "both have the row '%s', and their settings of '%s' differ",
                               results_row_label(x->r, row, x->a), section[i]);
    }
    if (one && two)
        return join_refuse(x, first->dir, c->dir,
                           "both have the row '%s', and the content of their data or plugins "
                           "differs",
                           results_row_label(x->r, row, x->a));
    return true;
}

/* True where the weights are the same and all values that both measured are equal. */
static bool same_bits(const struct result_cell *x, const struct result_cell *y)
{
    if (!value_equal(value_get(x->result, "weights_hash"), value_get(y->result, "weights_hash")))
        return false;
    for (const struct measured *m = x->measure; m < x->measure + x->n_measure; m++) {
        const struct measured *k = cell_measure(y, m->metric, m->split, m->length);
        if (k && memcmp(&m->value, &k->value, sizeof(k->value)) != 0)
            return false;
    }
    return true;
}

static void leave_out(struct reader *x, const struct result_cell *counts, struct result_cell *other)
{
    other->left_out = true;
    if (counts->result && other->result && !same_bits(counts, other))
        *ARENA_APPEND(x->a, x->r->rival, x->r->n_rival, x->r->rival_room) =
            (struct result_rival){counts, other};
}

/* Adds the cell by its seed; of two cells of one seed the row has the one that counts. */
static void place_cell(struct reader *x, struct result_row *row, struct result_cell *c)
{
    int at = 0;
    while (at < row->n_cell && row->cell[at]->seed < c->seed)
        at++;
    if (at < row->n_cell && row->cell[at]->seed == c->seed) {
        struct result_cell *was = row->cell[at];
        if (result_counts(c) && (!result_counts(was) || c->n_measure > was->n_measure))
            row->cell[at] = c;
        leave_out(x, row->cell[at], row->cell[at] == c ? was : c);
        return;
    }
    memmove(&row->cell[at + 1], &row->cell[at],
            (size_t)(row->n_cell - at) * sizeof(struct result_cell *));
    row->cell[at] = c;
    row->n_cell++;
}

bool join_cell(struct reader *x, struct result_row *row, struct result_cell *c)
{
    if (row->n_cell && x->r->n_dir > 1 && !check_same_setting(x, row, c))
        return false;
    place_cell(x, row, c);
    return true;
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

void join_tasks(struct results *r, struct arena *a)
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
