/* SPDX-License-Identifier: MIT */
/* plan.c: makes the cells of a plan from the rows of its grid. */
#include "experiment/plan.h"

#include "cell/cellmeta.h"
#include "cell/engine.h"
#include "planning.h"
#include "tensor/gemm.h"

/* ---- rows ---- */

/* Checks that the library and the CPU have products of bf16. */
static bool check_precision(struct planning *p)
{
    struct error why = {0};
    int i = p->e->run.engine == ENGINE_PEAT ? 0 : p->n;
    while (i < p->n && p->row[i].cell.config.train.precision != PRECISION_BF16)
        i++;
    if (i == p->n || gemm_check_bf16(p->e->run.gemm, &why) == PEAT_OK)
        return true;
    return mistake(p->err, value_get_path(p->row[i].point.tree, "train.precision")->at,
                   "precision 'bf16' is not available here: %s; use 'fp32'", why.text);
}

/* Checks that the engine can compute the cells. */
static bool check_engine(struct planning *p)
{
    bool ok = true;
    for (int i = 0; ok && i < p->n; i++) {
        const struct cell_config *c = &p->row[i].cell.config;
        ok = p->e->run.engine != ENGINE_PEAT ? engine_has_formulas(c, p->a, p->err)
                                             : engine_can_compute(c, p->err);
    }
    return ok;
}

/* If all points of a grid are refused, the grid has a mistake. */
static bool drop_refused(struct planning *p)
{
    int kept = 0;
    for (int i = 0; i < p->n; i++)
        if (p->row[i].refused)
            p->refused[p->n_refused++] = p->row[i];
        else
            p->row[kept++] = p->row[i];
    p->n = kept;
    return kept || error_fail(p->err, PEAT_REFUSED, "%s", p->refused[0].refused);
}

/* Lists a refused point for every seed, like cells. */
static bool list_skipped(struct planning *p)
{
    struct json skipped = json_list(p->a);
    for (int s = 0; s < p->e->n_seed; s++)
        for (int i = 0; i < p->n_refused; i++) {
            struct json one = json_add_map(skipped);
            json_put_text(one, "label", row_name(p, &p->refused[i], false, p->e->seed[s]));
            json_put_text(one, "reason", p->refused[i].refused);
        }
    p->plan->skipped = skipped.v;
    return true;
}

static bool cost_rows(struct planning *p)
{
    bool ok = true;
    for (int i = 0; ok && i < p->n; i++)
        ok = row_skip(p, &p->row[i], cost_measure(p, &p->row[i].cell));
    return ok;
}

/* The axes on which a row and its baseline may differ. */
static const struct value *free_axes(const struct planning *p)
{
    const struct best_over *b = &p->e->report.best_over;
    struct value *chosen = value_map(p->a, NOWHERE);
    for (int i = 0; i < b->n_axis; i++)
        value_set(p->a, chosen, b->axis[i], NOWHERE, value_bool(p->a, NOWHERE, true));
    return value_merge(p->a, p->e->report.baseline, chosen);
}

/* On axes whose value will be chosen the row may differ from its baseline, because the baseline
 * cell is not known yet: several rows may be the baseline, and none is recorded. */
static bool find_baseline(struct planning *p, struct plan_row *row)
{
    const struct value *baseline = p->e->report.baseline;
    row->cell.baseline = -1;
    if (!baseline)
        return true;
    const struct value *except = free_axes(p);
    const struct plan_row *found = row_find(p, p->row, baseline, row, except), *other;
    if (!found)
        return mistake(p->err, baseline->at,
                       "row '%s' has no baseline: no cell of the grid has these labels and "
                       "equals it otherwise",
                       row->cell.label);
    if (p->e->report.best_over.n_axis > 0)
        return true;
    row->cell.baseline = (int)(found - p->row);
    other = row_find(p, found + 1, baseline, row, except);
    return !other || mistake(p->err, baseline->at,
                             "row '%s' has more than one baseline: '%s' and '%s'; name more axes",
                             row->cell.label, found->cell.label, other->cell.label);
}

static bool check_reports(struct planning *p)
{
    bool ok = true;
    for (int i = 0; ok && i < p->n; i++)
        ok = metric_check(p, &p->row[i], p->e->report.metric, p->e->report.metric_at) &&
             find_baseline(p, &p->row[i]);
    return ok;
}

/* ---- cells ---- */

static bool make_cell(struct planning *p, struct plan_cell *cell, int row, int seed)
{
    bool ok = true;
    const struct plan_row *from = &p->row[row];
    *cell = from->cell;
    cell->index = seed * p->n + row;
    cell->seed = p->e->seed[seed];
    if (seed > 0)
        ok = cell_config_reseed(&cell->config, &from->cell.config, cell->seed, p->a, p->err) ==
             PEAT_OK;
    cell->plugins = cell_plugins(&cell->config, p->a);
    cell->label = row_name(p, from, false, cell->seed);
    cell->name = row_name(p, from, true, cell->seed);
    cell->id = arena_printf(p->a, "%s-%.8s", cell->name, cell->config.hash);
    if (cell->baseline >= 0)
        cell->baseline += seed * p->n;
    return ok;
}

/* The first cell, in `first`, that has this text too; -1: none. Adds the cell. */
static int find_twin(struct planning *p, struct text_index *first, const char *text, int cell)
{
    int twin = text_index_find(first, text);
    if (twin < 0)
        text_index_add(first, p->a, text, cell);
    return twin;
}

/* Labels are short texts, so two cells may get the same one; such cells are named by their ids. */
static bool tell_labels_apart(struct planning *p)
{
    struct text_index ids = {0}, labels = {0}, names = {0};
    struct plan_cell *cell = p->plan->cell;
    int n = p->plan->n, *label = ARENA_ARRAY(p->a, n, int), *name = ARENA_ARRAY(p->a, n, int);
    for (int i = 0; i < n; i++) {
        label[i] = find_twin(p, &labels, cell[i].label, i);
        name[i] = find_twin(p, &names, cell[i].name, i);
        if (find_twin(p, &ids, cell[i].id, i) >= 0)
            return mistake(p->err, p->e->matrix_at,
                           "two cells would be called '%s': their labels are too much alike",
                           cell[i].id);
    }
    for (int i = 0; i < n; i++) {
        if (label[i] >= 0) {
            cell[i].label = cell[i].id;
            cell[label[i]].label = cell[label[i]].id;
        }
        if (name[i] >= 0) {
            cell[i].name = cell[i].id;
            cell[name[i]].name = cell[name[i]].id;
        }
    }
    return true;
}

/* Seed-major, so that a half-finished grid is a whole table with fewer seeds. */
static bool make_cells(struct planning *p)
{
    p->plan->n = p->n * p->e->n_seed;
    p->plan->cell = ARENA_ARRAY(p->a, p->plan->n, struct plan_cell);
    bool ok = true;
    for (int s = 0; s < p->e->n_seed; s++)
        for (int i = 0; ok && i < p->n; i++)
            ok = make_cell(p, &p->plan->cell[s * p->n + i], i, s);
    return ok && tell_labels_apart(p);
}

static bool (*const step[])(struct planning *p) = {
    drop_refused, check_precision, check_engine,  cost_rows,         drop_refused, match_rows_to,
    drop_refused, list_skipped,    check_reports, comparisons_check, make_cells,   find_trunks};

peat_status plan_make(struct plan *plan, const struct experiment *e, struct registry *r,
                      enum plan_depth depth, struct arena *a, struct error *err)
{
    struct team team = {.threads = 1};
    struct error ignored = {0}, why = {0};
    struct planning p = {.plan = plan, .e = e, .registry = r, .a = a, .err = &why};
    p.files = ARENA_NEW(a, struct data_files);
    *p.files = (struct data_files){.a = a, .keep_most = DATA_KEPT_BY_PLANS};
    struct point *point = NULL;
    int n = 0;
    *plan = (struct plan){.experiment = e};
    peat_status status = experiment_points(e, &point, &n, err);
    if (status != PEAT_OK)
        return status;
    if (depth == PLAN_SIZES && gemm_start(&team, e->run.gemm, &ignored) == PEAT_OK)
        p.team = &team;
    arena_init(&p.scratch, "plan", 1 << 20);
    bool ok = rows_read(&p, point, n);
    for (size_t i = 0; i < sizeof(step) / sizeof(*step) && ok; i++)
        ok = step[i](&p);
    arena_release(&p.scratch);
    return ok ? PEAT_OK : error_set(err, why.status, "%s", why.text);
}
