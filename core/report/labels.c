/* SPDX-License-Identifier: MIT */
/* labels.c: names rows by the labels of their axes, and compares rows by them. */
#include "labels.h"

const char *results_axis_name(const struct results *r, int axis)
{
    const char *name = key_name(r->axis[axis]);
    for (int i = 0; i < r->n_axis; i++)
        if (i != axis && strcmp(key_name(r->axis[i]), name) == 0)
            return r->axis[axis];
    return name;
}

const char *results_row_label(const struct results *r, const struct result_row *row,
                              struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < r->n_axis; i++)
        text = list_add(a, text, ".", row->axis[i]);
    return text ? text : "-";
}

const char *row_text(const struct result_row *row, const char *key)
{
    return json_get_text(row->cell[0]->planned, key);
}

int labels_collect(const struct results *r, const struct result_row *row, const bool *group,
                   bool in, const struct result_row **list, int n)
{
    for (int i = 0; i < n; i++)
        if (labels_alike(r->n_axis, list[i]->axis, row->axis, group, in))
            return n;
    list[n] = row;
    return n + 1;
}

const struct result_row *labels_crossing(const struct results *r, const bool *group,
                                         const struct result_row *in, const struct result_row *out)
{
    for (int i = 0; i < r->n_row; i++)
        if (labels_alike(r->n_axis, r->row[i].axis, in->axis, group, true) &&
            labels_alike(r->n_axis, r->row[i].axis, out->axis, group, false))
            return &r->row[i];
    return NULL;
}

const struct result_cell *row_cell(const struct result_row *row, int64_t seed)
{
    for (int i = 0; i < row->n_cell; i++)
        if (row->cell[i]->seed == seed)
            return row->cell[i];
    return NULL;
}

static bool same_text_of(const struct result_cell *x, const struct result_cell *y, const char *key)
{
    return strcmp(json_text_or(x->meta, key, ""), json_text_or(y->meta, key, "")) == 0;
}

bool result_rows_cross_engines(const struct result_row *x, const struct result_row *y)
{
    for (int i = 0; i < x->n_cell; i++) {
        const struct result_cell *a = x->cell[i], *b = row_cell(y, a->seed);
        if (b && result_counts(a) && result_counts(b) &&
            !(same_text_of(a, b, "trained_by") && same_text_of(a, b, "precision")))
            return true;
    }
    return false;
}

peat_status results_find_length(const struct results *r, int64_t length, int *index,
                                struct arena *a, struct error *err)
{
    const char *known = NULL;
    *index = r->n_length ? 0 : -1;
    if (length < 0 || r->n_length == 0)
        return PEAT_OK;
    for (; *index < r->n_length; ++*index) {
        if (r->length[*index] == length)
            return PEAT_OK;
        known = arena_item(a, known, "%" PRId64, r->length[*index]);
    }
    return error_set(err, PEAT_INVALID, "nothing was evaluated at length %" PRId64 "; there are %s",
                     length, known);
}
