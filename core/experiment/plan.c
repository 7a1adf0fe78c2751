/* SPDX-License-Identifier: MIT */
/* plan.c: from the points of a grid to its cells. */
#include "experiment/plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cell/setting.h"
#include "planning.h"
#include "tensor/gemm.h"

static peat_status no_memory(struct planning *p)
{
    return error_set(p->err, PEAT_NOMEM, "out of memory");
}

/* ---- labels ---- */

static bool is_combine_axis(const struct axis *axis)
{
    return setting_is_below(axis->key, "position.combine");
}

/* A labelled axis counts when one of its settings does. */
static bool axis_is_below(const struct axis *axis, const char *key)
{
    for (int i = 0; i < axis->n_known; i++)
        for (int j = 0; j < axis->value[i].set->n; j++)
            if (setting_is_below(axis->value[i].set->key[j], key) ||
                setting_is_below(key, axis->value[i].set->key[j]))
                return true;
    return false;
}

static bool position_varies(const struct experiment *e)
{
    for (int i = 0; i < e->n_axis; i++)
        if (axis_is_below(&e->axis[i], "position"))
            return true;
    return false;
}

static const char *axis_label(const struct planning *p, const struct plan_row *row, const char *key)
{
    for (int i = 0; i < p->e->n_axis; i++)
        if (strcmp(p->e->axis[i].key, key) == 0)
            return row->point.label[i];
    return NULL;
}

static const char *setting_label(const struct planning *p, const struct plan_row *row,
                                 const char *key)
{
    const char *label = axis_label(p, row, key);
    return label ? label : value_label(p->a, value_get_path(row->point.tree, key));
}

static bool is_named_axis(const struct experiment *e, int i)
{
    return strcmp(e->axis[i].key, "position.scheme") == 0 ||
           strcmp(e->axis[i].key, "position.combine") == 0;
}

/* scheme.combine, then the other axes. */
static const char *row_label(const struct planning *p, const struct plan_row *row, int64_t seed)
{
    const char *part[EXPERIMENT_MAX_AXES + 2] = {row->cell.scheme, row->cell.combine};
    int n = 2;
    for (int i = 0; i < p->e->n_axis; i++)
        if (!is_named_axis(p->e, i))
            part[n++] = row->point.label[i];
    return cell_label(p->a, n, part, seed);
}

static void set_labels(struct planning *p, struct plan_row *row)
{
    struct plan_cell *cell = &row->cell;
    memcpy(cell->axis, row->point.label, sizeof(cell->axis));
    cell->scheme = setting_label(p, row, "position.scheme");
    cell->combine = cell->config.has_combine ? setting_label(p, row, "position.combine") : "-";
    const char *task = axis_label(p, row, "task");
    cell->task = task ? task : cell->config.task.plugin->desc->id;
    cell->label = row_label(p, row, p->e->seed[0]);
}

bool rows_equal(const struct planning *p, const struct plan_row *row, const struct plan_row *other,
                const struct value *except)
{
    for (int i = 0; i < p->e->n_axis; i++) {
        const struct axis *axis = &p->e->axis[i];
        const char *a = row->point.label[i], *b = other->point.label[i];
        bool any = is_combine_axis(axis) && (strcmp(a, "-") == 0 || strcmp(b, "-") == 0);
        if (!any && !value_get(except, axis->key) && strcmp(a, b) != 0)
            return false;
    }
    return true;
}

/* ---- schemes without a stream ---- */

static peat_status refuse_combine(struct planning *p, const struct plan_row *row)
{
    const struct cell_config *c = &row->cell.config;
    bool one = c->n_scheme == 1;
    return place_error(p->err, c->combine.at,
                       "scheme%s '%s' give%s no stream, so combine '%s' has nothing to merge; use "
                       "sum or another scheme",
                       one ? "" : "s", setting_label(p, row, "position.scheme"), one ? "s" : "",
                       c->combine.plugin->desc->id);
}

/* Lists the combine of the point under its scheme. */
static void note_drop(struct planning *p, struct value *drops, const struct plan_row *row)
{
    const char *scheme = setting_label(p, row, "position.scheme");
    const struct value *combine = value_get_path(row->point.tree, "position.combine");
    struct value *label = value_text(p->a, combine->at, value_label(p->a, combine));
    struct value *list = value_get(drops, scheme);
    if (!list) {
        list = value_list(p->a, combine->at);
        value_set(p->a, drops, scheme, combine->at, list);
    }
    for (int i = 0; i < list->n; i++)
        if (value_equal(list->item[i], label))
            return;
    value_append(p->a, list, label);
}

static void list_drops(struct planning *p, const struct value *drops)
{
    p->plan->dropped = ARENA_ARRAY(p->a, drops->n + 1, const char *);
    BUG_UNLESS(p->plan->dropped);
    for (int i = 0; i < drops->n; i++) {
        struct strbuf line;
        strbuf_init(&line);
        strbuf_addf(&line, "%s x ", drops->key[i]);
        for (int j = 0; j < drops->item[i]->n; j++)
            strbuf_addf(&line, "%s%s", j ? ", " : "", drops->item[i]->item[j]->text);
        strbuf_add(&line, ": nothing to merge");
        p->plan->dropped[i] = arena_strdup(p->a, line.text);
        strbuf_release(&line);
    }
    p->plan->n_dropped = drops->n;
}

/* Puts "-" for the combine. *kept: whether this is the first of the points that differ in it. */
static peat_status drop_combine(struct planning *p, struct plan_row *row, bool *kept)
{
    const struct experiment *e = p->e;
    bool is_sum = strcmp(row->cell.config.combine.plugin->desc->id, "sum") == 0;
    *kept = true;
    if (!is_sum && !position_varies(e))
        return refuse_combine(p, row);
    for (int i = 0; i < e->n_axis; i++)
        if (is_combine_axis(&e->axis[i]))
            row->point.label[i] = "-";
    for (int i = 0; *kept && i < p->n; i++) {
        bool equal = true;
        for (int j = 0; equal && j < e->n_axis; j++)
            equal = strcmp(p->row[i].point.label[j], row->point.label[j]) == 0;
        *kept = !equal;
    }
    return PEAT_OK;
}

/* ---- rows ---- */

peat_status row_config(struct planning *p, struct plan_row *row, bool *dropped)
{
    return cell_config_read_with(&row->cell.config, row->point.tree, p->e->seed[0], p->registry,
                                 &p->files, p->a, dropped, p->err);
}

/* Adds the point's row unless it only repeats one. */
static peat_status read_row(struct planning *p, const struct point *point, struct value *drops)
{
    struct plan_row *row = &p->row[p->n];
    bool dropped = false, kept = true;
    *row = (struct plan_row){.point = *point};
    peat_status status = row_config(p, row, &dropped);
    if (status == PEAT_OK && dropped)
        status = drop_combine(p, row, &kept);
    if (status != PEAT_OK)
        return status;
    if (!kept) {
        note_drop(p, drops, row);
        return PEAT_OK;
    }
    set_labels(p, row);
    p->n++;
    return PEAT_OK;
}

static peat_status read_rows(struct planning *p, const struct point *point, int n)
{
    struct value *drops = value_map(p->a, p->e->matrix_at);
    peat_status status = PEAT_OK;
    p->row = ARENA_ARRAY(p->a, n, struct plan_row);
    if (!p->row)
        return no_memory(p);
    for (int i = 0; status == PEAT_OK && i < n; i++)
        status = read_row(p, &point[i], drops);
    list_drops(p, drops);
    return status;
}

/* Products of bf16 take a library and a CPU that have them. */
static peat_status check_precision(struct planning *p)
{
    const char *gemm = gemm_words[p->e->run.gemm];
    for (int i = 0; i < p->n; i++) {
        const struct plan_row *row = &p->row[i];
        const char *missing =
            row->cell.config.train.precision == PRECISION_BF16 ? gemm_bf16_missing(gemm) : NULL;
        if (missing)
            return place_error(p->err, value_get_path(row->point.tree, "train.precision")->at,
                               "precision 'bf16' is not to be had here: %s; 'fp32' always is",
                               missing);
    }
    return PEAT_OK;
}

static peat_status refuse_row(struct planning *p, const struct plan_row *row,
                              const struct error *why)
{
    if (!p->refused)
        p->refused = ARENA_ARRAY(p->a, p->n, struct refused);
    const char *reason = arena_strdup(p->a, why->text);
    if (!p->refused || !reason)
        return no_memory(p);
    p->refused[p->n_refused++] = (struct refused){*row, reason};
    return PEAT_OK;
}

/* Rows that are refused go to p->refused. A grid of which nothing is left has a mistake. */
static peat_status cost_rows(struct planning *p)
{
    struct error *err = p->err, why = {0}, first = {0};
    peat_status status = PEAT_OK;
    int n = p->n, kept = 0;
    p->err = &why;
    for (int i = 0; status == PEAT_OK && i < n; i++) {
        why = (struct error){0};
        status = cost_measure(p, &p->row[i].cell);
        if (status == PEAT_REFUSED) {
            first = p->n_refused ? first : why;
            status = refuse_row(p, &p->row[i], &why);
        } else if (status == PEAT_OK) {
            p->row[kept++] = p->row[i];
        }
    }
    p->err = err;
    if (status != PEAT_OK)
        return error_set(err, status, "%s", why.text);
    p->n = kept;
    return kept ? PEAT_OK : error_set(err, first.status, "%s", first.text);
}

/* Each for every seed, as it would have been a cell. */
static peat_status list_skipped(struct planning *p)
{
    struct plan *plan = p->plan;
    plan->skipped = ARENA_ARRAY(p->a, p->n_refused * p->e->n_seed + 1, struct plan_skip);
    if (!plan->skipped)
        return no_memory(p);
    for (int s = 0; s < p->e->n_seed; s++)
        for (int i = 0; i < p->n_refused; i++)
            plan->skipped[plan->n_skipped++] = (struct plan_skip){
                row_label(p, &p->refused[i].row, p->e->seed[s]), p->refused[i].reason};
    return PEAT_OK;
}

/* ---- what results are reported by ---- */

static peat_status check_metric(struct planning *p, const struct plan_row *row)
{
    const char *wanted = p->e->report.metric;
    const peat_plugin *task = row->cell.config.task.plugin->desc;
    const peat_metric *metric = ((const peat_task *)task->interface)->metric;
    struct strbuf list;
    if (!wanted[0])
        return PEAT_OK;
    strbuf_init(&list);
    bool found = false;
    for (const peat_metric *m = metric; m->name; m++) {
        found = found || strcmp(m->name, wanted) == 0;
        strbuf_addf(&list, "%s%s", m == metric ? "" : ", ", m->name);
    }
    peat_status status = found ? PEAT_OK
                               : place_error(p->err, p->e->report.metric_at,
                                             "task '%s' has no metric '%s'; it has: %s", task->id,
                                             wanted, list.text);
    strbuf_release(&list);
    return status;
}

static peat_status find_baseline(struct planning *p, struct plan_row *row)
{
    const struct value *baseline = p->e->report.baseline;
    row->cell.baseline = -1;
    for (int i = 0; baseline && i < p->n; i++) {
        const struct plan_row *other = &p->row[i];
        if (!point_matches(p->e, &other->point, baseline) || !rows_equal(p, row, other, baseline))
            continue;
        if (row->cell.baseline >= 0)
            return place_error(p->err, baseline->at,
                               "row '%s' has more than one baseline: '%s' and '%s'; name more axes",
                               row->cell.label, p->row[row->cell.baseline].cell.label,
                               other->cell.label);
        row->cell.baseline = i;
    }
    if (baseline && row->cell.baseline < 0)
        return place_error(p->err, baseline->at,
                           "row '%s' has no baseline: no cell of the grid has these labels and "
                           "equals it otherwise",
                           row->cell.label);
    return PEAT_OK;
}

static peat_status check_reports(struct planning *p)
{
    peat_status status = PEAT_OK;
    for (int i = 0; status == PEAT_OK && i < p->n; i++) {
        status = check_metric(p, &p->row[i]);
        if (status == PEAT_OK)
            status = find_baseline(p, &p->row[i]);
    }
    return status;
}

/* ---- cells ---- */

static void make_cell(struct planning *p, struct plan_cell *cell, int row, int seed)
{
    const struct plan_row *from = &p->row[row];
    *cell = from->cell;
    cell->index = seed * p->n + row;
    cell->seed = p->e->seed[seed];
    if (seed > 0)
        cell_config_reseed(&cell->config, &from->cell.config, cell->seed, p->a);
    cell->label = row_label(p, from, cell->seed);
    cell->id = arena_printf(p->a, "%s-%.8s", cell->label, cell->config.hash);
    BUG_UNLESS(cell->id);
    if (cell->baseline >= 0)
        cell->baseline += seed * p->n;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static peat_status check_ids(struct planning *p)
{
    const char **id = ARENA_ARRAY(p->a, p->plan->n, const char *);
    if (!id)
        return no_memory(p);
    for (int i = 0; i < p->plan->n; i++)
        id[i] = p->plan->cell[i].id;
    qsort(id, (size_t)p->plan->n, sizeof(*id), compare_ids);
    for (int i = 1; i < p->plan->n; i++)
        if (strcmp(id[i - 1], id[i]) == 0)
            return place_error(p->err, p->e->matrix_at,
                               "two cells would be called '%s': their labels are too much alike",
                               id[i]);
    return PEAT_OK;
}

/* Seed-major: a grid that is half done is a whole table with fewer seeds. */
static peat_status make_cells(struct planning *p)
{
    p->plan->n = p->n * p->e->n_seed;
    p->plan->cell = ARENA_ARRAY(p->a, p->plan->n, struct plan_cell);
    if (!p->plan->cell)
        return no_memory(p);
    for (int s = 0; s < p->e->n_seed; s++)
        for (int i = 0; i < p->n; i++)
            make_cell(p, &p->plan->cell[s * p->n + i], i, s);
    return check_ids(p);
}

peat_status plan_make(struct plan *plan, const struct experiment *e, struct registry *r,
                      struct arena *a, struct error *err)
{
    struct planning p = {.plan = plan, .e = e, .registry = r, .a = a, .err = err};
    struct point *point = NULL;
    int n = 0;
    *plan = (struct plan){.experiment = e};
    peat_status status = experiment_points(e, &point, &n, err);
    if (status != PEAT_OK)
        return status;
    arena_init(&p.scratch, "plan", 1 << 20);
    status = read_rows(&p, point, n / e->n_seed);
    if (status == PEAT_OK)
        status = check_precision(&p);
    if (status == PEAT_OK)
        status = cost_rows(&p);
    if (status == PEAT_OK)
        status = list_skipped(&p);
    if (status == PEAT_OK)
        status = match_rows_to(&p);
    if (status == PEAT_OK)
        status = check_reports(&p);
    if (status == PEAT_OK)
        status = make_cells(&p);
    arena_release(&p.scratch);
    return status;
}

int plan_baseline(const struct plan *p, int cell)
{
    return p->cell[cell].baseline;
}
