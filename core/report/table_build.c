/* SPDX-License-Identifier: MIT */
/* table_build.c: chooses and orders the rows and columns of a table of results. */
#include "table_builder.h"

/* ---- options ---- */

static bool order_axes(struct builder *b)
{
    int first = -1, n = 0;
    if (b->o->rows && !builder_axis(b, "--rows", b->o->rows, &first))
        return false;
    if (first >= 0)
        b->axis[n++] = first;
    for (int i = 0; i < b->r->n_axis; i++)
        if (i != first)
            b->axis[n++] = i;
    return true;
}

/* ---- row order ---- */

/* Sorts stably: rows of equal rank keep their order. axis -1: by the metric, best first. */
static void sort_rows(struct builder *b, int axis, int *order)
{
    const struct results *r = b->r;
    double *rank = ARENA_ARRAY(b->a, r->n_row, double);
    int64_t *place = ARENA_ARRAY(b->a, r->n_row, int64_t);
    int *was = ARENA_ARRAY(b->a, r->n_row, int);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[order[i]];
        double mean = b->length >= 0 ? row->at[b->length].mean : (double)NAN;
        rank[i] = isnan(mean) ? (double)INFINITY : r->goal_max ? -mean : mean;
        for (int first = r->n_row - 1; axis >= 0 && first >= 0; first--)
            if (strcmp(r->row[first].axis[axis], row->axis[axis]) == 0)
                rank[i] = first;
        was[i] = order[i];
    }
    sort_places(rank, r->n_row, place);
    for (int i = 0; i < r->n_row; i++)
        order[i] = was[place[i]];
}

static bool order_rows(struct builder *b)
{
    int *order = ARENA_ARRAY(b->a, b->r->n_row, int), axis = -1;
    b->order = order;
    for (int i = 0; i < b->r->n_row; i++)
        order[i] = i;
    if (b->o->rows && b->r->n_axis)
        sort_rows(b, b->axis[0], order);
    if (!b->o->sort)
        return true;
    if (strcmp(b->o->sort, "metric") != 0 &&
        !builder_axis(b, "--sort (an axis, or metric)", b->o->sort, &axis))
        return false;
    sort_rows(b, axis, order);
    return true;
}

static bool read_options(struct builder *b)
{
    return results_find_length(b->r, b->o->length, &b->length, b->a, b->err) == PEAT_OK &&
           order_axes(b) && order_rows(b);
}

peat_status table_order(const struct results *r, const struct table_options *o, struct arena *a,
                        const int **order, struct error *err)
{
    struct builder b = {.a = a, .r = r, .o = o, .err = err};
    bool ok = read_options(&b);
    *order = b.order;
    return ok ? PEAT_OK : PEAT_INVALID;
}

/* ---- columns with one value ---- */

static bool is_same_in_all(const struct table *t, int column)
{
    for (int i = 1; i < t->n_row; i++)
        if (strcmp(t->cell[(int64_t)i * t->n_column + column].text, t->cell[column].text) != 0)
            return false;
    return t->n_row > 1;
}

/* Drops columns of labels and costs that have one text in all rows. */
static void drop_unchanged(struct builder *b)
{
    struct table *t = b->t;
    bool *drop = ARENA_ARRAY(b->a, t->n_column, bool);
    int kept = 0, labels = t->n_label, cost = t->first_cost;
    const char *same = NULL;
    for (int k = 0; k < t->n_column; k++) {
        bool result = k >= labels && (b->o->cols || k < cost || !cost);
        drop[k] = !result && is_same_in_all(t, k);
        if (drop[k])
            same = arena_item(b->a, same, "%s %s", t->column[k].head, t->cell[k].text);
    }
    if (same)
        table_note(t, "the same in every row: %s", same);
    struct table_cell *to = t->cell;
    for (int i = 0; i < t->n_row; i++)
        for (int k = 0; k < t->n_column; k++)
            if (!drop[k])
                *to++ = t->cell[(int64_t)i * t->n_column + k];
    for (int k = 0; k < t->n_column; k++) {
        t->n_label -= drop[k] && k < labels;
        t->first_cost -= drop[k] && k < cost;
        if (!drop[k])
            t->column[kept++] = t->column[k];
    }
    t->n_column = kept;
}

peat_status table_build(struct table *t, const struct results *r, const struct table_options *o,
                        struct arena *a, struct error *err)
{
    *t = (struct table){.arena = a};
    struct builder b = {.t = t, .a = a, .r = r, .o = o, .err = err};
    if (!read_options(&b))
        return PEAT_INVALID;
    t->title = table_title(&b);
    if (!(o->cols ? table_cross(&b) : table_list(&b)))
        return PEAT_INVALID;
    table_notes(&b);
    if (o->only_changed)
        drop_unchanged(&b);
    return PEAT_OK;
}
