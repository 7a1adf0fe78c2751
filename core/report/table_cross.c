/* SPDX-License-Identifier: MIT */
/* table_cross.c: a table in which some axes are columns. */
#include <string.h>

#include "labels.h"
#include "table_builder.h"

struct crossing {
    bool is_column[EXPERIMENT_MAX_AXES]; /* axes */
    int n_column, n_row;
    const struct result_row **column, **row; /* one that has the labels */
};

static peat_status read_cols(struct builder *b, struct crossing *c)
{
    for (const char *word = b->o->cols; *word;) {
        size_t n = strcspn(word, ",");
        int axis;
        peat_status status = builder_axis(b, "--cols", word, n, &axis);
        if (status != PEAT_OK)
            return status;
        c->is_column[axis] = true;
        word += n + (word[n] == ',');
    }
    return PEAT_OK;
}

static const char *column_head(struct builder *b, const struct crossing *c,
                               const struct result_row *row)
{
    const char *text = "";
    for (int i = 0; i < b->r->n_axis; i++)
        if (c->is_column[b->axis[i]])
            text = arena_printf(b->a, "%s%s%s", text, *text ? " " : "", row->axis[b->axis[i]]);
    return text;
}

static void add_heads(struct builder *b, const struct crossing *c)
{
    struct table *t = b->t;
    t->column = ARENA_ARRAY(b->a, b->r->n_axis + c->n_column, struct table_column);
    for (int i = 0; i < b->r->n_axis; i++)
        if (!c->is_column[b->axis[i]])
            t->column[t->n_column++] =
                (struct table_column){results_axis_name(b->r, b->axis[i]), false};
    t->n_label = t->n_column;
    for (int k = 0; k < c->n_column; k++)
        t->column[t->n_column++] = (struct table_column){column_head(b, c, c->column[k]), true};
}

static void fill_row(struct builder *b, const struct crossing *c, const struct result_row *row,
                     struct table_cell *cell)
{
    for (int i = 0; i < b->r->n_axis; i++)
        if (!c->is_column[b->axis[i]])
            *cell++ = table_plain(row->axis[b->axis[i]]);
    for (int k = 0; k < c->n_column; k++) {
        const struct result_row *at = labels_crossing(b->r, c->is_column, c->column[k], row);
        *cell++ = at && b->length >= 0 ? table_metric_cell(b, at, b->length) : table_plain("");
    }
}

peat_status table_cross(struct builder *b)
{
    struct table *t = b->t;
    const struct results *r = b->r;
    struct crossing c = {.n_column = 0};
    peat_status status = read_cols(b, &c);
    if (status != PEAT_OK)
        return status;
    c.column = ARENA_ARRAY(b->a, r->n_row, const struct result_row *);
    c.row = ARENA_ARRAY(b->a, r->n_row, const struct result_row *);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[b->order[i]];
        c.n_column = labels_collect(r, row, c.is_column, true, c.column, c.n_column);
        c.n_row = labels_collect(r, row, c.is_column, false, c.row, c.n_row);
    }
    add_heads(b, &c);
    t->n_row = c.n_row;
    t->cell = ARENA_ARRAY(b->a, t->n_row * t->n_column, struct table_cell);
    for (int i = 0; i < t->n_row; i++)
        fill_row(b, &c, c.row[i], t->cell + i * t->n_column);
    return PEAT_OK;
}
