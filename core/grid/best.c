/* SPDX-License-Identifier: MIT */
/* best.c: chooses the value of an axis for each row. */
#include "grid/best.h"

#include "experiment/change.h"
#include "grid/rundir.h"

const char *const best_role_words[] = {"chooses", "waits", "reported", "unchosen", NULL};

/* ---- cells ---- */

peat_status best_open(struct best *b, const struct value *plan, int n, struct arena *a,
                      struct error *err)
{
    const struct value *report = value_get(plan, "report");
    *b = (struct best){.n_axis = json_get_count(plan, "axes")};
    peat_status status = best_over_from_value(&b->over, value_get(report, "best_over"), a, err);
    if (status != PEAT_OK || b->over.n_axis == 0)
        return status;
    b->axis = ARENA_ARRAY(a, b->n_axis, const char *);
    b->chosen = ARENA_ARRAY(a, b->n_axis, bool);
    b->own = ARENA_ARRAY(a, b->n_axis, bool);
    for (int i = 0; i < b->n_axis; i++) {
        b->axis[i] = json_get_text(json_get_item(plan, "axes", i), "key");
        b->chosen[i] = best_over_has(&b->over, b->axis[i]);
        b->own[i] = !b->chosen[i] && !best_over_spans(&b->over, b->axis[i]);
    }
    for (int k = 0; k < b->over.n_axis; k++)
        if (texts_find(b->axis, b->n_axis, b->over.axis[k]) < 0)
            return error_set(err, PEAT_CORRUPT,
                             "report.best_over is damaged: there is no axis '%s'", b->over.axis[k]);
    b->cell = ARENA_ARRAY(a, n, struct best_cell);
    return PEAT_OK;
}

void best_add(struct best *b, const struct value *planned, enum cell_state state,
              const struct value *result, struct arena *a)
{
    struct best_cell *c = &b->cell[b->n_cell++];
    *c = (struct best_cell){.seed = json_get_int(planned, "seed", 0),
                            .state = state,
                            .result = result,
                            .label = ARENA_ARRAY(a, b->n_axis, const char *)};
    for (int i = 0; i < b->n_axis; i++)
        c->label[i] = json_text_or(value_get(planned, "axes"), b->axis[i], "-");
}

/* ---- rows and their values ---- */

/* Whether the cell has the labels at which the value is chosen. */
static bool is_where_chosen(const struct best *b, const struct best_cell *c)
{
    for (int i = 0; i < b->n_axis; i++)
        if (!best_over_fits(&b->over, b->axis[i], c->label[i]))
            return false;
    return true;
}

bool best_has_value(const struct best *b, const struct best_cell *c, const struct best_value *v)
{
    return labels_alike(b->n_axis, b->cell[v->first].label, c->label, b->chosen, true);
}

static struct best_value *value_of(const struct best *b, const struct best_row *row,
                                   const struct best_cell *c)
{
    for (int i = 0; i < row->n; i++)
        if (best_has_value(b, c, &row->value[i]))
            return &row->value[i];
    return NULL;
}

static void add_value(struct best *b, struct best_row *row, int cell, struct arena *a)
{
    struct best_value *v = &row->value[row->n++];
    *v = (struct best_value){
        .first = cell, .label = ARENA_ARRAY(a, b->over.n_axis, const char *), .score = (double)NAN};
    for (int k = 0; k < b->over.n_axis; k++)
        v->label[k] = b->cell[cell].label[texts_find(b->axis, b->n_axis, b->over.axis[k])];
}

static void make_rows(struct best *b, struct arena *a)
{
    int *first = ARENA_ARRAY(a, b->n_cell, int);
    b->row = ARENA_ARRAY(a, b->n_cell, struct best_row);
    for (int i = 0; i < b->n_cell; i++) {
        int row = 0;
        while (row < b->n_row &&
               !labels_alike(b->n_axis, b->cell[first[row]].label, b->cell[i].label, b->own, true))
            row++;
        if (row == b->n_row) {
            first[b->n_row++] = i;
            b->row[row] = (struct best_row){.chosen = -1, .metric = "", .length = -1};
        }
        b->cell[i].row = row;
        b->row[row].n++;
    }
    for (int i = 0; i < b->n_row; i++) {
        b->row[i].value = ARENA_ARRAY(a, b->row[i].n, struct best_value);
        b->row[i].n = 0;
    }
    for (int i = 0; i < b->n_cell; i++) {
        struct best_row *row = &b->row[b->cell[i].row];
        if (!value_of(b, row, &b->cell[i]))
            add_value(b, row, i, a);
    }
}

/* Numbers by size; other values in the order of the plan. */
static bool is_before(const struct best *b, const struct best_value *x, const struct best_value *y)
{
    for (int k = 0; k < b->over.n_axis; k++) {
        double p = label_number(x->label[k]), q = label_number(y->label[k]);
        if (p < q || p > q)
            return p < q;
    }
    return x->first < y->first;
}

static void sort_values(const struct best *b, struct best_row *row)
{
    for (int i = 1; i < row->n; i++) {
        struct best_value v = row->value[i];
        int at = i;
        for (; at > 0 && is_before(b, &v, &row->value[at - 1]); at--)
            row->value[at] = row->value[at - 1];
        row->value[at] = v;
    }
}

/* ---- the metric ---- */

static const struct value *result_of_row(const struct best *b, int row)
{
    for (int i = 0; i < b->n_cell; i++)
        if (b->cell[i].row == row && b->cell[i].result)
            return b->cell[i].result;
    return NULL;
}

static bool more_is_better(const struct value *result, const char *metric)
{
    const struct value *m;
    for (int i = 0; (m = json_get_item(result, "metrics", i)); i++)
        if (json_text_is(m, "name", metric))
            return json_text_is(m, "goal", "max");
    return false;
}

/* The metric of best_over, or the report's, or the task's main one. */
static void find_metric(struct best *b, int i, const struct value *report)
{
    struct best_row *row = &b->row[i];
    const struct value *result = result_of_row(b, i);
    const char *reported = json_get_text(report, "metric"), *goal = json_get_text(report, "goal");
    const char *own = json_get_text(json_get_item(result, "metrics", 0), "name");
    if (!reported || !*reported)
        reported = own;
    const char *metric = b->over.metric ? b->over.metric : reported;
    if (!metric)
        return;
    row->metric = metric;
    row->goal_max = more_is_better(result, metric);
    if (same_text(metric, reported) && goal && strcmp(goal, "metric") != 0)
        row->goal_max = strcmp(goal, "max") == 0;
}

static const struct value *measure_of(const struct best *b, const struct best_row *row,
                                      const struct best_cell *c, int64_t length)
{
    return result_measure(c->result, row->metric, b->over.halves ? "choose" : "valid", length);
}

/* Sets the length of best_over, or else the shortest. */
static void find_length(struct best *b, int i)
{
    struct best_row *row = &b->row[i];
    for (int c = 0; c < b->n_cell; c++) {
        const struct value *m = measure_of(b, row, &b->cell[c], b->over.length);
        int64_t length = json_get_int(m, "length", -1);
        if (m && b->cell[c].row == i && is_where_chosen(b, &b->cell[c]) &&
            (row->length < 0 || length < row->length))
            row->length = length;
    }
}

/* ---- scores ---- */

static void add_score(struct best_value *v, enum cell_state state, double x)
{
    v->n++;
    v->diverged += state == CELL_DIVERGED;
    v->open += !cell_has_ended(state);
    v->not_finite += state == CELL_DONE && !isfinite(x);
    if (state == CELL_DONE && isfinite(x))
        v->score = isnan(v->score) ? x : v->score + x;
}

/* Sums in the order in which the seeds are named, wherever the cells come from. A seed without a
 * cell of the value counts as open, because the cell may be in another directory. */
static void score_values(struct best *b, int i, int n_seed, const int64_t *seed)
{
    struct best_row *row = &b->row[i];
    for (int s = 0; s < n_seed; s++)
        for (int k = 0; k < row->n; k++) {
            struct best_value *v = &row->value[k];
            const struct best_cell *found = NULL;
            for (int c = 0; c < b->n_cell; c++)
                if (b->cell[c].row == i && b->cell[c].seed == seed[s] &&
                    is_where_chosen(b, &b->cell[c]) && best_has_value(b, &b->cell[c], v) &&
                    (!found || !cell_has_ended(found->state)))
                    found = &b->cell[c];
            add_score(v, found ? found->state : CELL_TODO,
                      found ? json_get_number(measure_of(b, row, found, row->length), "value")
                            : (double)NAN);
        }
    for (int k = 0; k < row->n; k++) {
        struct best_value *v = &row->value[k];
        row->open += v->open;
        v->score = v->open || v->diverged || v->not_finite ? (double)NAN : v->score / v->n;
    }
}

/* Values are in rising order, so the first of equal scores is kept. */
static void choose_value(struct best_row *row)
{
    for (int k = 0; row->open == 0 && k < row->n; k++) {
        double x = row->value[k].score;
        double best = row->chosen < 0 ? (double)NAN : row->value[row->chosen].score;
        if (!isnan(x) && (isnan(best) || (row->goal_max ? x > best : x < best)))
            row->chosen = k;
    }
}

static enum best_role role_of(const struct best *b, const struct best_cell *c)
{
    const struct best_row *row = &b->row[c->row];
    bool chosen = row->chosen >= 0 && best_has_value(b, c, &row->value[row->chosen]);
    bool here = is_where_chosen(b, c);
    if (b->over.halves && here)
        return chosen ? BEST_REPORTED : BEST_CHOOSES;
    if (!b->over.halves && best_over_keeps(&b->over, c->seed))
        return here ? BEST_CHOOSES : BEST_UNCHOSEN;
    if (row->open)
        return BEST_WAITS;
    return chosen ? BEST_REPORTED : BEST_UNCHOSEN;
}

/* All seeds that cells have, in rising order. */
static int list_seeds(const struct best *b, int64_t *seed)
{
    int n = 0;
    for (int i = 0; i < b->n_cell; i++)
        if (!integers_hold(seed, n, b->cell[i].seed))
            seed[n++] = b->cell[i].seed;
    sort_integers(seed, n);
    return n;
}

void best_choose(struct best *b, const struct value *report, struct arena *a)
{
    int64_t *all = ARENA_ARRAY(a, b->n_cell + 1, int64_t);
    int n_seed = b->over.halves ? list_seeds(b, all) : b->over.n_seed;
    const int64_t *seed = b->over.halves ? all : b->over.seed;
    make_rows(b, a);
    for (int i = 0; i < b->n_row; i++) {
        sort_values(b, &b->row[i]);
        find_metric(b, i, report);
        find_length(b, i);
        score_values(b, i, n_seed, seed);
        choose_value(&b->row[i]);
    }
    for (int i = 0; i < b->n_cell; i++)
        b->cell[i].role = role_of(b, &b->cell[i]);
}

int best_at_edge(const struct best *b, const struct best_row *row)
{
    if (b->over.n_axis != 1 || row->chosen < 0 || row->n < 2)
        return 0;
    for (int k = 0; k < row->n; k++)
        if (isnan(label_number(row->value[k].label[0])))
            return 0;
    return row->chosen == 0 ? -1 : row->chosen == row->n - 1 ? 1 : 0;
}
