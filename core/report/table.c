/* SPDX-License-Identifier: MIT */
/* table.c: chooses and orders the rows and columns of a table of results; functions that all parts
 * of a table call: axes by name, cells, notes. */

#include "report/selector.h"
#include "table_builder.h"

bool builder_axis(struct builder *b, const char *option, const char *name, int *axis)
{
    *axis = selector_axis(b->r, name);
    if (*axis < 0)
        selector_no_axis(b->r, option, name, b->a, b->err);
    return *axis >= 0;
}

/* ---- building ---- */

void table_column(struct table *t, const char *head, bool right)
{
    *ARENA_APPEND(t->arena, t->column, t->n_column, t->column_room) =
        (struct table_column){head, right};
}

void table_cell(struct table *t, struct table_cell cell)
{
    *ARENA_APPEND(t->arena, t->cell, t->n_cell, t->cell_room) = cell;
    t->n_row = t->n_cell / t->n_column;
}

void table_text(struct table *t, const char *text)
{
    table_cell(t, table_plain(text));
}

/* ---- notes ---- */

void table_note(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(t->arena, t->note, t->n_note, t->note_room) = arena_vprintf(t->arena, fmt, args);
    va_end(args);
}

void table_note_method(struct table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    *ARENA_APPEND(t->arena, t->method, t->n_method, t->method_room) = t->n_note;
    table_note(t, "%s", arena_vprintf(t->arena, fmt, args));
    va_end(args);
}

void table_limit_notes(struct table *t, int most)
{
    int room = most - (t->n_note - t->n_method), left = t->n_method - room, n = 0, next = 0;
    if (left <= 0)
        return;
    room = room > 0 ? room - 1 : 0; /* a line says how many there are */
    left = t->n_method - room;
    for (int i = 0; i < t->n_note; i++) {
        bool method = next < t->n_method && t->method[next] == i;
        next += method;
        if (!method || next <= room)
            t->note[n++] = t->note[i];
    }
    t->n_note = n;
    table_note(t, "%d more note%s on how this is computed: --notes", left, plural(left));
}

void table_note_refused(struct table *t, const struct pairs *p)
{
    int all = p->n + pairs_refused(p);
    for (int i = 0; i < REFUSALS; i++)
        if (p->refused[i])
            table_note(t, "%d of %d pairs refused: %s", p->refused[i], all, refusals[i].whole);
}

void table_note_rivals(struct table *t, const struct results *r)
{
    enum { SHOWN = 5 };
    for (int i = 0; i < r->n_rival && i < SHOWN; i++)
        table_note(t, "'%s' and '%s' are one cell with different bits: the first counts",
                   r->rival[i].counts->dir, r->rival[i].other->dir);
    if (r->n_rival > SHOWN)
        table_note(t, "and %d more cells that two directories have with different bits",
                   r->n_rival - SHOWN);
}

/* ---- seeds ---- */

bool table_one_n(const struct builder *b, const struct result_row *row)
{
    for (int l = 0; !b->o->cols && l < b->r->n_length; l++)
        if (row->at[l].n != row->at[0].n)
            return false;
    return true;
}

int table_seeds(const struct builder *b)
{
    int n = 0;
    for (int i = 0; i < b->r->n_row; i++) {
        const struct result_row *row = &b->r->row[i];
        n = b->length >= 0 ? row->at[b->length].n : 0;
        if (n != row->n_cell - row->decided || n != b->r->row[0].at[b->length].n ||
            !table_one_n(b, row))
            return 0;
    }
    return n;
}

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
