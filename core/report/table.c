/* SPDX-License-Identifier: MIT */
/* table.c: which rows and columns a table of results has, and in which order. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/selector.h"
#include "table_builder.h"

const char *builder_keep(struct builder *b)
{
    const char *text = arena_strdup(b->t->arena, b->text.text);
    if (!text)
        out_of_memory("a table");
    strbuf_clear(&b->text);
    return text;
}

void *builder_room(struct builder *b, int64_t n, size_t bytes)
{
    void *memory = arena_array(b->t->arena, (size_t)(n > 0 ? n : 1), bytes);
    if (!memory)
        out_of_memory("a table");
    return memory;
}

void builder_note(struct builder *b)
{
    struct table *t = b->t;
    if (t->n_note == t->note_room) {
        int room = t->note_room ? 2 * t->note_room : 16;
        const char **larger = builder_room(b, room, sizeof(*larger));
        if (t->n_note)
            memcpy(larger, t->note, (size_t)t->n_note * sizeof(*larger));
        t->note = larger;
        t->note_room = room;
    }
    t->note[t->n_note++] = builder_keep(b);
}

/* ---- options ---- */

peat_status builder_axis(struct builder *b, const char *option, const char *name, size_t n,
                         int *axis)
{
    *axis = selector_axis(b->r, name, n);
    if (*axis >= 0)
        return PEAT_OK;
    strbuf_add_bytes(&b->text, name, n);
    return selector_no_axis(b->r, option, builder_keep(b), b->err);
}

static peat_status choose_length(struct builder *b)
{
    const struct results *r = b->r;
    b->length = r->n_length ? 0 : -1;
    if (b->o->length < 0 || r->n_length == 0)
        return PEAT_OK;
    for (b->length = 0; b->length < r->n_length; b->length++)
        if (r->length[b->length] == b->o->length)
            return PEAT_OK;
    for (int l = 0; l < r->n_length; l++)
        strbuf_addf(&b->text, "%s%" PRId64, l ? ", " : "", r->length[l]);
    return error_set(b->err, PEAT_INVALID,
                     "nothing was evaluated at length %" PRId64 "; there are %s", b->o->length,
                     builder_keep(b));
}

static peat_status order_axes(struct builder *b)
{
    int first = -1, n = 0;
    peat_status status = PEAT_OK;
    if (b->o->rows)
        status = builder_axis(b, "--rows", b->o->rows, strlen(b->o->rows), &first);
    if (first >= 0)
        b->axis[n++] = first;
    for (int i = 0; i < b->r->n_axis; i++)
        if (i != first)
            b->axis[n++] = i;
    return status;
}

/* ---- row order ---- */

/* First row that has this label. */
static int label_rank(const struct results *r, int axis, const char *label)
{
    int i = 0;
    while (i < r->n_row && strcmp(r->row[i].axis[axis], label) != 0)
        i++;
    return i;
}

struct ranked {
    double rank;
    int row, was;
};

static int compare_ranked(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank) : a->was - b->was;
}

/* Stable: rows of equal rank keep their order. axis -1: by the metric, best first. */
static void sort_rows(const struct results *r, int axis, int length, int *order)
{
    struct ranked *by = malloc((size_t)(r->n_row + 1) * sizeof(*by));
    if (!by)
        out_of_memory("a table");
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[order[i]];
        double mean = length >= 0 ? row->at[length].mean : (double)NAN;
        double rank = axis >= 0     ? label_rank(r, axis, row->axis[axis])
                      : isnan(mean) ? (double)INFINITY
                      : r->goal_max ? -mean
                                    : mean;
        by[i] = (struct ranked){rank, order[i]};
    }
    for (int i = 0; i < r->n_row; i++)
        by[i].was = i;
    qsort(by, (size_t)r->n_row, sizeof(*by), compare_ranked);
    for (int i = 0; i < r->n_row; i++)
        order[i] = by[i].row;
    free(by);
}

static peat_status order_rows(struct builder *b)
{
    int *order = builder_room(b, b->r->n_row, sizeof(*order)), axis = -1;
    b->order = order;
    for (int i = 0; i < b->r->n_row; i++)
        order[i] = i;
    if (b->o->rows && b->r->n_axis)
        sort_rows(b->r, b->axis[0], b->length, order);
    if (!b->o->sort)
        return PEAT_OK;
    peat_status status = PEAT_OK;
    if (strcmp(b->o->sort, "metric") != 0)
        status =
            builder_axis(b, "--sort (an axis, or metric)", b->o->sort, strlen(b->o->sort), &axis);
    if (status == PEAT_OK)
        sort_rows(b->r, axis, b->length, order);
    return status;
}

peat_status table_order(const struct results *r, const struct table_options *o, struct arena *a,
                        const int **order, struct error *err)
{
    struct table t = {.arena = a};
    struct builder b = {.t = &t, .r = r, .o = o, .err = err};
    strbuf_init(&b.text);
    peat_status status = choose_length(&b);
    if (status == PEAT_OK)
        status = order_axes(&b);
    if (status == PEAT_OK)
        status = order_rows(&b);
    *order = b.order;
    strbuf_release(&b.text);
    return status;
}

/* ---- axes as columns ---- */

struct pivot {
    bool is_column[EXPERIMENT_MAX_AXES];
    int n_column, n_row;
    const struct result_row **column, **row; /* one that has the labels */
};

static peat_status read_cols(struct builder *b, struct pivot *p)
{
    for (const char *word = b->o->cols; *word;) {
        size_t n = strcspn(word, ",");
        int axis;
        peat_status status = builder_axis(b, "--cols", word, n, &axis);
        if (status != PEAT_OK)
            return status;
        p->is_column[axis] = true;
        word += n + (word[n] == ',');
    }
    return PEAT_OK;
}

/* Equal on the axes that are columns, or on those that are not. */
static bool same_side(const struct results *r, const struct pivot *p, bool columns,
                      const struct result_row *x, const struct result_row *y)
{
    for (int i = 0; i < r->n_axis; i++)
        if (p->is_column[i] == columns && strcmp(x->axis[i], y->axis[i]) != 0)
            return false;
    return true;
}

static int collect(const struct results *r, const struct pivot *p, bool columns,
                   const struct result_row *row, const struct result_row **list, int n)
{
    for (int i = 0; i < n; i++)
        if (same_side(r, p, columns, list[i], row))
            return n;
    list[n] = row;
    return n + 1;
}

static const char *side_label(struct builder *b, const struct pivot *p,
                              const struct result_row *row)
{
    for (int i = 0; i < b->r->n_axis; i++)
        if (p->is_column[b->axis[i]])
            strbuf_addf(&b->text, "%s%s", b->text.n ? " " : "", row->axis[b->axis[i]]);
    return builder_keep(b);
}

static struct table_cell crossing(struct builder *b, const struct pivot *p,
                                  const struct result_row *row, const struct result_row *column)
{
    for (int i = 0; i < b->r->n_row && b->length >= 0; i++)
        if (same_side(b->r, p, false, &b->r->row[i], row) &&
            same_side(b->r, p, true, &b->r->row[i], column))
            return table_metric_cell(b, &b->r->row[i], b->length);
    return table_plain("");
}

static peat_status cross_rows(struct builder *b)
{
    struct table *t = b->t;
    const struct results *r = b->r;
    struct pivot p = {.n_column = 0};
    peat_status status = read_cols(b, &p);
    if (status != PEAT_OK)
        return status;
    p.column = builder_room(b, r->n_row, sizeof(struct result_row *));
    p.row = builder_room(b, r->n_row, sizeof(struct result_row *));
    for (int i = 0; i < r->n_row; i++) {
        p.n_column = collect(r, &p, true, &r->row[b->order[i]], p.column, p.n_column);
        p.n_row = collect(r, &p, false, &r->row[b->order[i]], p.row, p.n_row);
    }
    t->column = builder_room(b, EXPERIMENT_MAX_AXES + p.n_column, sizeof(*t->column));
    for (int i = 0; i < r->n_axis; i++)
        if (!p.is_column[b->axis[i]])
            t->column[t->n_column++] =
                (struct table_column){results_axis_name(r, b->axis[i]), false};
    t->n_label = t->n_column;
    for (int k = 0; k < p.n_column; k++)
        t->column[t->n_column++] = (struct table_column){side_label(b, &p, p.column[k]), true};
    t->n_row = p.n_row;
    t->cell = builder_room(b, (int64_t)t->n_row * t->n_column, sizeof(*t->cell));
    struct table_cell *cell = t->cell;
    for (int i = 0; i < p.n_row; i++) {
        for (int k = 0; k < r->n_axis; k++)
            if (!p.is_column[b->axis[k]])
                *cell++ = table_plain(p.row[i]->axis[b->axis[k]]);
        for (int k = 0; k < p.n_column; k++)
            *cell++ = crossing(b, &p, p.row[i], p.column[k]);
    }
    return PEAT_OK;
}

/* ---- what is the same everywhere ---- */

static bool is_same_in_all(const struct table *t, int column)
{
    for (int i = 1; i < t->n_row; i++)
        if (strcmp(t->cell[(int64_t)i * t->n_column + column].text, t->cell[column].text) != 0)
            return false;
    return t->n_row > 1;
}

/* The columns of labels and costs that have one text; what is left moves together. */
static void drop_unchanged(struct builder *b)
{
    struct table *t = b->t;
    bool *drop = builder_room(b, t->n_column, sizeof(*drop));
    int kept = 0, labels = t->n_label, cost = t->first_cost;
    for (int k = 0; k < t->n_column; k++) {
        bool result = k >= labels && (b->o->cols || k < cost || !cost);
        drop[k] = !result && is_same_in_all(t, k);
        if (drop[k])
            strbuf_addf(&b->text, "%s%s %s",
                        b->text.n ? ", " : "the same in every row: ", t->column[k].head,
                        t->cell[k].text);
    }
    if (b->text.n)
        builder_note(b);
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

static peat_status build(struct builder *b)
{
    peat_status status = choose_length(b);
    if (status == PEAT_OK)
        status = order_axes(b);
    if (status == PEAT_OK)
        status = order_rows(b);
    if (status != PEAT_OK)
        return status;
    b->t->title = table_title(b);
    status = b->o->cols ? cross_rows(b) : table_list(b);
    if (status != PEAT_OK)
        return status;
    table_notes(b);
    if (b->o->only_changed)
        drop_unchanged(b);
    return PEAT_OK;
}

peat_status table_build(struct table *t, const struct results *r, const struct table_options *o,
                        struct arena *a, struct error *err)
{
    *t = (struct table){.arena = a, .strong = TABLE_STRONG};
    struct builder b = {.t = t, .r = r, .o = o, .err = err};
    strbuf_init(&b.text);
    peat_status status = build(&b);
    strbuf_release(&b.text);
    return status;
}
