/* SPDX-License-Identifier: MIT */
/* results_rows.c: reads run directories into rows of cells. */
#include "results_parts.h"

/* ---- the report ---- */

static void read_names(struct reader *x)
{
    struct results *r = x->r;
    for (int d = 0; d < r->n_dir; d++) {
        const char *name = json_get_text(r->dir[d].plan, "experiment");
        bool seen = false;
        for (int e = 0; e < d; e++)
            seen = seen || strcmp(json_get_text(r->dir[e].plan, "experiment"), name) == 0;
        if (!seen)
            r->experiment = list_add(x->a, r->experiment, " + ", name);
    }
}

/* The distinct texts of a list of the plans, or of its maps under `member`: shards of one
 * experiment drop and skip the same. Returns their number. */
static int list_texts(const struct reader *x, const char *key, const char *member,
                      const char ***list)
{
    const struct value *v;
    int n = 0, room = 0;
    for (int d = 0; d < x->r->n_dir; d++)
        for (int i = 0; (v = json_get_item(x->r->dir[d].plan, key, i)); i++) {
            const char *text = v->kind == VALUE_TEXT ? v->text : json_get_text(v, member);
            if (text && texts_find(*list, n, text) < 0)
                *ARENA_APPEND(x->a, *list, n, room) = text;
        }
    return n;
}

/* The claims of the first directory are judged by the cells of all. */
static bool read_registrations(struct reader *x)
{
    struct results *r = x->r;
    for (int d = 0; d < r->n_dir; d++) {
        const struct rundir *run = &r->dir[d];
        struct claims_kept kept;
        const char *head = r->n_dir > 1 ? arena_printf(x->a, "%s: ", run->path) : "";
        if (claims_kept_read(run->path, &kept, x->a, x->err) != PEAT_OK)
            return false;
        registration_add(&r->registration, head, &kept, d ? 1 : r->n_dir, run, x->a);
        if (d == 0 && !x->options->every_value)
            r->claims = kept;
    }
    return true;
}

static bool read_report(struct reader *x)
{
    struct results *r = x->r;
    const char **skipped = NULL;
    const struct value *plan = r->dir[0].plan, *report = value_get(plan, "report"), *axis;
    const struct value *baseline = value_get(report, "baseline");
    const struct value *contrasts = value_get(report, "contrasts");
    for (; (axis = json_get_item(plan, "axes", r->n_axis)); r->n_axis++)
        r->axis[r->n_axis] = json_get_text(axis, "key");
    r->baseline = baseline && baseline->kind == VALUE_MAP ? baseline : NULL;
    if (!x->options->every_value)
        r->contrasts = contrasts && contrasts->kind == VALUE_LIST ? contrasts : NULL;
    read_names(x);
    r->n_dropped = list_texts(x, "dropped", "", &r->dropped);
    r->n_skipped = list_texts(x, "skipped", "label", &skipped);
    return read_registrations(x);
}

/* ---- cells ---- */

/* A directory begins with the planned cells, in the plan's order. */
static void read_cells(struct reader *x)
{
    struct results *r = x->r;
    int room = 0;
    for (int d = 0; d < r->n_dir; d++) {
        const struct value *cells = value_get(r->dir[d].plan, "cells");
        for (int i = 0; i < cells->n; i++) {
            const struct value *planned = cells->item[i];
            const struct cell_files *files = &r->dir[d].cell[i];
            struct result_cell *c = ARENA_APPEND(x->a, r->cell, r->n_cell, room);
            *c = (struct result_cell){
                .seed = json_get_int(planned, "seed", 0),
                .directory = d,
                .row = -1,
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

/* ---- rows ---- */

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

/* Cells that two engines trained in two directories are rows of their own, which an axis names. */
static void add_engine_axis(struct reader *x)
{
    struct results *r = x->r;
    bool found = false;
    for (int i = 0; i < r->n_cell && r->n_dir > 1 && !found; i++)
        found = json_get_text(r->cell[i].meta, "trained_by") && result_counts(&r->cell[i]) &&
                has_other_engine(x, &r->cell[i]);
    if (found && r->n_axis < EXPERIMENT_MAX_AXES)
        r->axis[r->n_axis++] = "trained_by";
}

static const char *label_on_axis(struct reader *x, const struct result_cell *c, int axis)
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
            label[k] = label_on_axis(x, &r->cell[i], k);
        int at = 0;
        while (at < r->n_row && !labels_alike(r->n_axis, r->row[at].axis, label, NULL, true))
            at++;
        struct result_row *row = &r->row[at];
        if (at == r->n_row) {
            r->n_row++;
            memcpy(row->axis, label, sizeof(label));
            row->cell = ARENA_ARRAY(x->a, r->n_seed, struct result_cell *);
            row->baseline = -1;
        }
        if (!join_cell(x, row, &r->cell[i]))
            return false;
    }
    return true;
}

/* ---- numbers of rows ---- */

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

/* All seeds of a row have the same numbers in plan.json; of the others the row has the median. */
static void read_quantities(struct result_row *row, double *room)
{
    quantities_read(row->cell[0]->planned, IN_PLAN, row->q);
    for (int i = 0; i < QUANTITIES; i++)
        if (!(quantities[i].files & IN_PLAN))
            row->q[i] = median_of(row, quantities[i].key, room);
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

static void row_count_states(struct result_row *row, int index)
{
    for (int i = 0; i < row->n_cell; i++) {
        enum cell_state state = row->cell[i]->state;
        row->cell[i]->row = index;
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

static bool read_results(struct reader *x, int n_dir, char *const *dir)
{
    if (!join_directories(x, n_dir, dir) || !read_report(x))
        return false;
    read_cells(x);
    if (!join_split(x) || !measures_read(x) || !make_rows(x))
        return false;
    join_tasks(x->r, x->a);
    return x->options->every_value || best_rows_keep(x->r, x->a, x->err) == PEAT_OK;
}

peat_status results_read(struct results *r, int n_dir, char *const *dir,
                         const struct results_options *o, struct arena *a, struct error *err)
{
    *r = (struct results){.metric = "", .length_unit = "", .test = o->test};
    if (!read_results(&(struct reader){r, o, a, err}, n_dir, dir))
        return err->status;
    double *room = ARENA_ARRAY(a, r->n_seed, double);
    for (int i = 0; i < r->n_row; i++) {
        row_count_states(&r->row[i], i);
        read_quantities(&r->row[i], room);
    }
    return results_compare(r, o, a, err);
}
