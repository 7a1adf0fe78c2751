/* SPDX-License-Identifier: MIT */
/* best_text.c: the choices of best_over, in words and as JSON. */
#include "table_builder.h"

/* ---- parts ---- */

static const char *axes_text(const struct best *b, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < b->over.n_axis; i++)
        text = list_add(a, text, " and ", key_name(b->over.axis[i]));
    return text;
}

static const char *seeds_text(const struct best *b, struct arena *a)
{
    return b->over.halves ? "one half of the held-out data" : best_over_seeds(&b->over, a);
}

static const char *of_seeds(const struct best *b, struct arena *a)
{
    return b->over.halves ? "" : arena_printf(a, " of %s", seeds_text(b, a));
}

static const char *labels_text(const struct best *b, const struct best_value *v, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < b->over.n_axis; i++)
        text = arena_item(a, text, "%s=%s", key_name(b->over.axis[i]), v->label[i]);
    return text;
}

const char *best_value_text(const struct best *b, const struct best_row *row, struct arena *a)
{
    return row->chosen < 0 ? "-" : labels_text(b, &row->value[row->chosen], a);
}

/* ---- notes ---- */

static void note_how(struct table *t, const struct results *r, struct arena *a)
{
    const struct best *b = &r->best;
    const struct best_row *first = NULL;
    const char *metric = "", *length = "";
    for (int i = b->n_row - 1; i >= 0; i--)
        first = b->row[i].metric[0] ? &b->row[i] : first;
    if (first)
        metric = arena_printf(a, " by %s", first->metric);
    if (first && first->length >= 0)
        length = arena_printf(a, " at %" PRId64 " %s", first->length, r->length_unit);
    table_note(t,
               "chosen: the best %s of each row%s%s%s, by its mean over %s, which %s in no number "
               "of this table",
               axes_text(b, a), best_over_where(&b->over, a), metric, length, seeds_text(b, a),
               b->over.halves || b->over.n_seed == 1 ? "is" : "are");
}

static int count_cells(const struct best_row *row)
{
    int n = 0;
    for (int k = 0; k < row->n; k++)
        n += row->value[k].n;
    return n;
}

static void note_rows(struct table *t, const struct results *r, struct arena *a)
{
    const struct best *b = &r->best;
    for (int i = 0; i < r->n_row; i++) {
        const struct best_row *row = r->row[i].choice;
        if (row && row->open)
            table_note(t, "%s: no %s is chosen yet: %d of %d cells%s have no result",
                       results_row_label(r, &r->row[i], a), axes_text(b, a), row->open,
                       count_cells(row), of_seeds(b, a));
        else if (row && row->chosen < 0)
            table_note(
                t, "%s: no %s could be chosen: each had a cell%s that diverged or has no number",
                results_row_label(r, &r->row[i], a), axes_text(b, a), of_seeds(b, a));
    }
}

static const char *rows_at_edge(const struct results *r, int edge, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < r->n_row; i++) {
        const struct best_row *row = r->row[i].choice;
        if (row && best_at_edge(&r->best, row) == edge)
            text = arena_item(a, text, "%s", results_row_label(r, &r->row[i], a));
    }
    return text;
}

static void note_edges(struct table *t, const struct results *r, struct arena *a)
{
    for (int edge = -1; edge <= 1; edge += 2) {
        const char *rows = rows_at_edge(r, edge, a);
        if (rows)
            table_note(t, "the %s %s that was tried is chosen, so a %s one may be better: %s",
                       edge < 0 ? "smallest" : "largest", axes_text(&r->best, a),
                       edge < 0 ? "smaller" : "larger", rows);
    }
}

static void note_diverged(struct table *t, const struct results *r, struct arena *a)
{
    const char *text = NULL;
    for (int i = 0; i < r->n_row; i++)
        for (int k = 0; r->row[i].choice && k < r->row[i].choice->n; k++) {
            const struct best_value *v = &r->row[i].choice->value[k];
            if (v->diverged)
                text = list_add(a, text, "; ",
                                arena_printf(a, "%s %s", results_row_label(r, &r->row[i], a),
                                             labels_text(&r->best, v, a)));
        }
    if (text)
        table_note(t, "not chosen, since a cell for choosing diverged: %s", text);
}

void best_notes(struct table *t, const struct results *r, struct arena *a)
{
    if (r->best.over.n_axis == 0 || r->n_row == 0 || !r->row[0].choice)
        return;
    note_how(t, r, a);
    note_rows(t, r, a);
    note_edges(t, r, a);
    note_diverged(t, r, a);
}

/* ---- JSON ---- */

static void put_labels(struct json m, const struct best *b, const struct best_value *v)
{
    for (int i = 0; i < b->over.n_axis; i++)
        json_put_text(m, b->over.axis[i], v->label[i]);
}

void best_put(struct json m, const struct results *r, const struct result_row *row)
{
    const struct best_row *choice = row->choice;
    if (!choice)
        return;
    if (choice->chosen >= 0)
        put_labels(json_put_map(m, "chosen"), &r->best, &choice->value[choice->chosen]);
    else
        json_put(m, "chosen", NULL);
    struct json how = json_put_map(m, "choice"), seeds = json_put_list(how, "seeds");
    for (int i = 0; i < r->best.over.n_seed; i++)
        json_add_int(seeds, r->best.over.seed[i]);
    json_put_text(how, "metric", *choice->metric ? choice->metric : NULL);
    json_put_number(how, "length", choice->length >= 0 ? (double)choice->length : (double)NAN);
    json_put_int(how, "unfinished", choice->open);
    struct json values = json_put_list(how, "values");
    for (int k = 0; k < choice->n; k++) {
        const struct best_value *v = &choice->value[k];
        struct json one = json_add_map(values);
        put_labels(one, &r->best, v);
        json_put_number(one, "mean", v->score);
        json_put_int(one, "diverged", v->diverged);
        json_put_int(one, "unfinished", v->open);
    }
}
