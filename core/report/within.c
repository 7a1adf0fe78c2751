/* SPDX-License-Identifier: MIT */
/* within.c: which rows are ranked with each other: those of one task and, on the axes of
 * report.within, of the same labels. */
#include "results_parts.h"

static const struct value *config_of(const struct result_row *row)
{
    const struct value *config = NULL;
    for (int i = 0; !config && i < row->n_cell; i++)
        config = row->cell[i]->config;
    return config;
}

/* Models of different numbers of parameters, because their width, depth or feed-forward width
 * differs. Rows whose size was chosen to match another one's say nothing about an axis. */
static bool other_size(const struct result_row *x, const struct result_row *y)
{
    static const char *const sizes[] = {"model.d_model", "model.n_layer", "model.d_ff"};
    bool differ = false;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
        differ = differ || value_differs(value_get_path(config_of(x), sizes[i]),
                                         value_get_path(config_of(y), sizes[i]));
    return differ && x->q[Q_PARAMS] != y->q[Q_PARAMS] && !row_text(x, "matched") &&
           !row_text(y, "matched");
}

/* True where every two rows that differ on this axis alone are models of different sizes. */
static bool is_of_sizes(const struct results *r, int axis)
{
    bool on[EXPERIMENT_MAX_AXES] = {[0] = false}, any = false;
    on[axis] = true;
    for (int i = 0; i < r->n_row; i++)
        for (int j = 0; j < i; j++) {
            const struct result_row *x = &r->row[i], *y = &r->row[j];
            if (!labels_alike(r->n_axis, x->axis, y->axis, on, false))
                continue;
            if (!other_size(x, y))
                return false;
            any = true;
        }
    return any;
}

static void number_groups(struct results *r)
{
    r->n_group = 0;
    for (int i = 0; i < r->n_row; i++) {
        struct result_row *row = &r->row[i];
        int first = 0;
        while (first < i &&
               !(r->row[first].task == row->task &&
                 labels_alike(r->n_axis, r->row[first].axis, row->axis, r->within, true)))
            first++;
        row->group = first < i ? r->row[first].group : r->n_group++;
    }
}

void results_group(struct results *r, const struct value *within, struct arena *a)
{
    for (int k = 0; k < r->n_axis; k++)
        r->within[k] = within ? value_holds_text(within, r->axis[k]) : is_of_sizes(r, k);
    number_groups(r);
    if (!within && r->n_group == r->n_row) { /* nothing would be left to rank */
        memset(r->within, 0, sizeof(r->within));
        number_groups(r);
    }
    for (int k = 0; k < r->n_axis; k++)
        if (r->within[k])
            r->within_text = arena_item(a, r->within_text, "%s", results_axis_name(r, k));
}
