/* SPDX-License-Identifier: MIT */
/* table_cross.c: a table in which some axes are columns. */
#include "labels.h"
#include "table_builder.h"

struct crossing {
    bool is_column[EXPERIMENT_MAX_AXES]; /* axes that become columns */
    int n_column, n_row;
    const struct result_row **column, **row; /* a row with the labels */
};

static bool read_cols(struct builder *b, struct crossing *c)
{
    const char *list = b->o->cols;
    for (const char *word; (word = list_next(b->a, &list, ','));) {
        int axis;
        if (!builder_axis(b, "--cols", word, &axis))
            return false;
        c->is_column[axis] = true;
    }
    return true;
}

static const char *column_head(struct builder *b, const struct crossing *c,
                               const struct result_row *row)
{
    const char *text = NULL;
    for (int i = 0; i < b->r->n_axis; i++)
        if (c->is_column[b->axis[i]])
            text = list_add(b->a, text, " ", row->axis[b->axis[i]]);
    return text ? text : "";
}

static void cross_add_heads(struct builder *b, const struct crossing *c)
{
    struct table *t = b->t;
    for (int i = 0; i < b->r->n_axis; i++)
        if (!c->is_column[b->axis[i]])
            table_column(t, results_axis_name(b->r, b->axis[i]), false);
    t->n_label = t->n_column;
    for (int k = 0; k < c->n_column; k++)
        table_column(t, column_head(b, c, c->column[k]), true);
}

static void cross_add_row(struct builder *b, const struct crossing *c, const struct result_row *row)
{
    for (int i = 0; i < b->r->n_axis; i++)
        if (!c->is_column[b->axis[i]])
            table_text(b->t, row->axis[b->axis[i]]);
    for (int k = 0; k < c->n_column; k++) {
        const struct result_row *at = labels_crossing(b->r, c->is_column, c->column[k], row);
        table_cell(b->t,
                   at && b->length >= 0 ? table_metric_cell(b, at, b->length) : table_plain(""));
    }
}

bool table_cross(struct builder *b)
{
    const struct results *r = b->r;
    struct crossing c = {.n_column = 0};
    if (!read_cols(b, &c))
        return false;
    c.column = ARENA_ARRAY(b->a, r->n_row, const struct result_row *);
    c.row = ARENA_ARRAY(b->a, r->n_row, const struct result_row *);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[b->order[i]];
        c.n_column = labels_collect(r, row, c.is_column, true, c.column, c.n_column);
        c.n_row = labels_collect(r, row, c.is_column, false, c.row, c.n_row);
    }
    cross_add_heads(b, &c);
    for (int i = 0; i < c.n_row; i++)
        cross_add_row(b, &c, c.row[i]);
    return true;
}
