/* SPDX-License-Identifier: MIT */
/* best_rows.c: replaces the rows of all values by the row of the value that was chosen, and says
 * how it was chosen. */
#include "grid/best.h"
#include "labels.h"
#include "results_parts.h"

struct choosing {
    struct results *r;
    struct best best;
    struct arena *a;
    int room; /* in r->note */
};

static peat_status best_rows_choose(struct choosing *x, struct error *err)
{
    struct results *r = x->r;
    struct best *b = &x->best;
    const struct value *plan = r->dir[0].plan;
    peat_status status = best_open(b, plan, r->n_cell, x->a, err);
    if (status != PEAT_OK || b->over.n_axis == 0)
        return status;
    for (int i = 0; i < r->n_cell; i++)
        best_add(b, r->cell[i].planned, r->cell[i].state, r->cell[i].result, x->a);
    best_choose(b, value_get(plan, "report"), x->a);
    r->best_over = best_over_value(&b->over, x->a);
    for (int i = 0; i < r->n_cell; i++) {
        enum best_role role = b->cell[i].role;
        r->cell[i].role = best_role_words[role];
        r->cell[i].reported = role == BEST_REPORTED || role == BEST_WAITS;
    }
    return PEAT_OK;
}

/* ---- words ---- */

static const char *axes_text(const struct choosing *x)
{
    const char *text = NULL;
    for (int i = 0; i < x->best.over.n_axis; i++)
        text = list_add(x->a, text, " and ", key_name(x->best.over.axis[i]));
    return text;
}

/* " of seeds 0, 1", or "" where halves choose. */
static const char *of_seeds(const struct choosing *x)
{
    return x->best.over.halves ? ""
                               : arena_printf(x->a, " of %s", best_over_seeds(&x->best.over, x->a));
}

static const char *labels_text(const struct choosing *x, const struct best_value *v)
{
    const char *text = NULL;
    for (int i = 0; i < x->best.over.n_axis; i++)
        text = arena_item(x->a, text, "%s=%s", key_name(x->best.over.axis[i]), v->label[i]);
    return text;
}

/* ---- JSON ---- */

static void put_labels(struct json m, const struct best *b, const struct best_value *v)
{
    for (int i = 0; i < b->over.n_axis; i++)
        json_put_text(m, b->over.axis[i], v->label[i]);
}

/* "chosen", a map axis -> label or null, and "choice" with every value's score. */
static const struct value *choice_value(const struct choosing *x, const struct best_row *row)
{
    const struct best *b = &x->best;
    struct json m = json_map(x->a);
    if (row->chosen >= 0)
        put_labels(json_put_map(m, "chosen"), b, &row->value[row->chosen]);
    else
        json_put(m, "chosen", NULL);
    struct json how = json_put_map(m, "choice"), seeds = json_put_list(how, "seeds");
    for (int i = 0; i < b->over.n_seed; i++)
        json_add_int(seeds, b->over.seed[i]);
    json_put_text(how, "metric", *row->metric ? row->metric : NULL);
    json_put_number(how, "length", row->length >= 0 ? (double)row->length : (double)NAN);
    json_put_int(how, "unfinished", row->open);
    struct json values = json_put_list(how, "values");
    for (int k = 0; k < row->n; k++) {
        const struct best_value *v = &row->value[k];
        struct json one = json_add_map(values);
        put_labels(one, b, v);
        json_put_number(one, "mean", v->score);
        json_put_int(one, "diverged", v->diverged);
        json_put_int(one, "unfinished", v->open);
    }
    return m.v;
}

/* ---- notes ---- */

__attribute__((format(printf, 2, 3))) static void note(struct choosing *x, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(x->a, x->r->note, x->r->n_note, x->room) = arena_vprintf(x->a, fmt, args);
    va_end(args);
}

static void note_how(struct choosing *x)
{
    const struct best *b = &x->best;
    const struct best_row *first = NULL;
    const char *metric = "", *length = "";
    for (int i = b->n_row - 1; i >= 0; i--)
        first = b->row[i].metric[0] ? &b->row[i] : first;
    if (first)
        metric = arena_printf(x->a, " by %s", first->metric);
    if (first && first->length >= 0)
        length = arena_printf(x->a, " at %" PRId64 " %s", first->length, x->r->length_unit);
    note(
        x,
        "chosen: the best %s of each row%s%s%s, by its mean over %s, which %s in no number of this "
        "table",
        axes_text(x), best_over_where(&b->over, x->a), metric, length,
        b->over.halves ? "one half of the held-out data" : best_over_seeds(&b->over, x->a),
        b->over.halves || b->over.n_seed == 1 ? "is" : "are");
}

static void note_row(struct choosing *x, const char *label, const struct best_row *row)
{
    int cells = 0;
    for (int k = 0; k < row->n; k++)
        cells += row->value[k].n;
    if (row->open)
        note(x, "%s: no %s is chosen yet: %d of %d cells%s have no result", label, axes_text(x),
             row->open, cells, of_seeds(x));
    else if (row->chosen < 0)
        note(x, "%s: no %s could be chosen: each had a cell%s that diverged or has no number",
             label, axes_text(x), of_seeds(x));
}

static void note_rows(struct choosing *x, const struct best_row *const *choice)
{
    struct results *r = x->r;
    const char *edge[3] = {NULL}, *diverged = NULL;
    if (r->n_row)
        note_how(x);
    for (int i = 0; i < r->n_row; i++) {
        const char *label = results_row_label(r, &r->row[i], x->a);
        const char **at = &edge[1 + best_at_edge(&x->best, choice[i])];
        note_row(x, label, choice[i]);
        *at = arena_item(x->a, *at, "%s", label);
        for (int k = 0; k < choice[i]->n; k++)
            if (choice[i]->value[k].diverged)
                diverged = list_add(
                    x->a, diverged, "; ",
                    arena_printf(x->a, "%s %s", label, labels_text(x, &choice[i]->value[k])));
    }
    for (int last = 0; last <= 2; last += 2)
        if (edge[last])
            note(x, "the %s %s that was tried is chosen, so a %s one may be better: %s",
                 last ? "largest" : "smallest", axes_text(x), last ? "larger" : "smaller",
                 edge[last]);
    if (diverged)
        note(x, "not chosen, since a cell for choosing diverged: %s", diverged);
}

/* ---- cells ---- */

/* A cell without results, for a row without a chosen value. */
static struct result_cell *stand_in(const struct result_cell *c, enum cell_state state,
                                    struct arena *a)
{
    struct result_cell *copy = ARENA_NEW(a, struct result_cell);
    *copy = *c;
    copy->state = state;
    copy->result = copy->meta = NULL;
    copy->damage = NULL;
    copy->n_measure = 0;
    memset(copy->at, 0, sizeof(copy->at));
    return copy;
}

/* Keeps the cells of the reported seeds. Returns the row's choice; NULL: the row has another value
 * than the shown one. */
static const struct best_row *keep_cells(const struct choosing *x, struct result_row *row)
{
    const struct best *b = &x->best;
    const struct best_cell *first = &b->cell[row->cell[0] - x->r->cell];
    const struct best_row *choice = &b->row[first->row];
    const struct best_value *shown = &choice->value[choice->chosen < 0 ? 0 : choice->chosen];
    int n = 0;
    if (!best_has_value(b, first, shown))
        return NULL;
    for (int i = 0; i < row->n_cell; i++) {
        struct result_cell *c = row->cell[i];
        if (best_over_keeps(&b->over, c->seed))
            continue;
        if (choice->chosen < 0)
            c = stand_in(c, choice->open ? CELL_WAITING : CELL_DIVERGED, x->a);
        row->cell[n++] = c;
    }
    row->chosen = choice->chosen < 0 ? "-" : labels_text(x, shown);
    row->choice = choice_value(x, choice);
    row->n_cell = n;
    return n > 0 ? choice : NULL;
}

/* ---- axes ---- */

static void drop_axes(struct results *r, const bool *chosen)
{
    int kept = 0;
    for (int i = 0; i < r->n_axis; i++) {
        if (chosen[i])
            continue;
        for (int k = 0; k < r->n_row; k++)
            r->row[k].axis[kept] = r->row[k].axis[i];
        r->axis[kept++] = r->axis[i];
    }
    r->n_axis = kept;
}

peat_status best_rows_keep(struct results *r, struct arena *a, struct error *err)
{
    struct choosing x = {.r = r, .a = a};
    peat_status status = best_rows_choose(&x, err);
    if (status != PEAT_OK || x.best.over.n_axis == 0)
        return status;
    /* Rows keep the order of the plan, whatever was chosen. */
    struct result_row *all = r->row;
    int kept = 0, n = 0;
    const bool *chosen = x.best.chosen;
    const struct result_row **first = ARENA_ARRAY(a, r->n_row + 1, const struct result_row *);
    const struct best_row **choice = ARENA_ARRAY(a, r->n_row + 1, const struct best_row *);
    for (int i = 0; i < r->n_row; i++)
        n = labels_collect(r, &all[i], chosen, false, first, n);
    r->row = ARENA_ARRAY(a, r->n_row + 1, struct result_row);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < r->n_row; i++)
            if (labels_alike(r->n_axis, all[i].axis, first[k]->axis, chosen, false) &&
                (choice[kept] = keep_cells(&x, &all[i])))
                r->row[kept++] = all[i];
    r->n_row = kept;
    drop_axes(r, chosen);
    int seeds = r->n_seed;
    r->n_seed = 0;
    for (int i = 0; i < seeds; i++)
        if (!best_over_keeps(&x.best.over, r->seed[i]))
            r->seed[r->n_seed++] = r->seed[i];
    note_rows(&x, choice);
    return PEAT_OK;
}
