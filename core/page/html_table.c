/* SPDX-License-Identifier: MIT */
/* html_table.c: the results table, and below it every number in full. */

#include "page_parts.h"

/* ---- as in the terminal ---- */

static void add_cell(struct html_page *p, const struct table *t, int row, int column, bool lines)
{
    const struct table_cell *c = &t->cell[(int64_t)row * t->n_column + column];
    const char *tag = column < t->n_label ? "th scope=\"row\"" : "td";
    strbuf_addf(p->out, "<%s%s>%s", tag, t->column[column].right ? " class=\"number\"" : "",
                c->strong ? "<b>" : "");
    const char *rest = c->text;
    for (const char *line; lines && (line = list_next(p->a, &rest, '\n'));) {
        html_text(p->out, line);
        strbuf_add(p->out, *rest ? "<br>" : "");
    }
    html_text(p->out, rest);
    strbuf_add(p->out, c->strong ? "</b>" : "");
    if (*c->mark)
        html_wrap(p->out, "<sup>", c->mark, "</sup>");
    strbuf_add(p->out, column < t->n_label ? "</th>" : "</td>");
}

/* The approximate width of a column on the widest page, in px. */
static int column_width(const struct table *t, int column)
{
    const double em = 7.6, padding = 18;
    size_t most = text_columns(t->column[column].head);
    for (int i = 0; i < t->n_row; i++) {
        const struct table_cell *c = &t->cell[(int64_t)i * t->n_column + column];
        size_t own = text_columns(c->text) + text_columns(c->mark);
        most = own > most ? own : most;
    }
    return (int)(em * (double)most + padding);
}

/* The end of the block of columns that begins at `from`: at least one column; costs have blocks
 * of their own. */
static int end_of_block(const struct table *t, int from)
{
    enum { PAGE = 1110 };
    int width = 0, end = from;
    for (int k = 0; k < t->n_label; k++)
        width += column_width(t, k);
    int last = from < t->first_cost ? t->first_cost : t->n_column;
    while (end < last && (width += column_width(t, end)) <= PAGE)
        end++;
    return end > from ? end : from + 1;
}

static void add_block(struct html_page *p, const struct table *t, int from, int end, bool lines)
{
    html_open_table(p->out);
    for (int k = 0; k < t->n_column; k++)
        if (k < t->n_label || (k >= from && k < end))
            html_column(p->out, t->column[k].head, t->column[k].right);
    html_open_rows(p->out);
    for (int i = 0; i < t->n_row; i++) {
        strbuf_add(p->out, "<tr>");
        for (int k = 0; k < t->n_column; k++)
            if (k < t->n_label || (k >= from && k < end))
                add_cell(p, t, i, k, lines && k >= t->n_label);
        html_close_row(p->out);
    }
    html_close_table(p->out);
}

void html_plain_table(struct html_page *p, const struct table *t, bool lines)
{
    add_block(p, t, t->n_label, t->n_column, lines);
}

/* Shows the first notes and folds the rest. */
static void add_notes(struct html_page *p, const struct table *t)
{
    enum { SHOWN = 6 };
    const int all = t->n_note + (t->strong != NULL);
    const bool folds = all > SHOWN + 2;
    if (all == 0)
        return;
    strbuf_add(p->out, "<ul class=\"notes\">\n");
    if (t->strong)
        html_wrap(p->out, "<li><b>bold</b>: ", t->strong, "</li>\n");
    for (int i = 0; i < t->n_note; i++) {
        if (i == SHOWN && folds)
            strbuf_addf(p->out,
                        "</ul>\n<details class=\"notes\"><summary>%d more notes</summary>\n"
                        "<ul class=\"notes\">\n",
                        t->n_note - i);
        html_wrap(p->out, "<li>", t->note[i], "</li>\n");
    }
    strbuf_add(p->out, folds ? "</ul></details>\n" : "</ul>\n");
}

void html_results_table(struct html_page *p, const struct table *t)
{
    html_wrap(p->out, "<p class=\"soft\">", t->title, "</p>\n");
    for (int from = t->n_label, end; from < t->n_column; from = end) {
        end = end_of_block(t, from);
        if (from == t->first_cost)
            strbuf_add(p->out, "<details><summary>What it cost</summary>\n");
        add_block(p, t, from, end, false);
    }
    strbuf_add(p->out, t->first_cost ? "</details>\n" : "");
    add_notes(p, t);
}

void html_table(struct html_page *p)
{
    struct table t;
    const struct table_options o = {.length = p->o->length, .whole = true};
    if (table_build(&t, p->r, &o, p->a, p->err) != PEAT_OK)
        return;
    html_section(p->out, "table", "Results");
    html_results_table(p, &t);
    html_end_section(p->out);
}

/* ---- in full ---- */

static void add_exact_number(struct table *t, double x)
{
    char text[32];
    number_text(x, text);
    table_text(t, isfinite(x) ? arena_strdup(t->arena, text) : "");
}

static void add_exact_row(const struct html_page *p, struct table *t, const struct result_row *row,
                          int length)
{
    const struct summary *s = &row->at[length];
    const double column[] = {
        (double)p->r->length[length], s->n, s->mean, s->sd, s->ci_low, s->ci_high};
    table_text(t, results_row_label(p->r, row, p->a));
    for (size_t k = 0; k < sizeof(column) / sizeof(*column); k++)
        add_exact_number(t, column[k]);
    for (const struct statistic *k = statistics; k->name; k++)
        add_exact_number(t, statistic_of(&s->diff, k));
    for (int i = 0; i < p->r->n_seed; i++) {
        const struct result_cell *c = row_cell(row, p->r->seed[i]);
        add_exact_number(t, c && result_counts(c) ? c->value[length] : (double)NAN);
    }
}

void html_exact(struct html_page *p)
{
    static const char *const head[] = {"length", "n", "mean", "sd", "ci_low", "ci_high"};
    const struct results *r = p->r;
    struct table t = {.arena = p->a, .n_label = 1};
    if (r->n_length == 0)
        return;
    table_column(&t, "row", false);
    for (size_t k = 0; k < sizeof(head) / sizeof(*head); k++)
        table_column(&t, head[k], true);
    for (const struct statistic *k = statistics; k->name; k++)
        table_column(&t, k->name, true);
    for (int i = 0; i < r->n_seed; i++)
        table_column(&t, arena_printf(p->a, "seed %" PRId64, r->seed[i]), true);
    for (int i = 0; i < r->n_row; i++)
        for (int l = 0; l < r->n_length; l++)
            add_exact_row(p, &t, &r->row[i], l);
    html_fold(p->out, "exact", "Every number in full, and each seed's", false);
    html_plain_table(p, &t, false);
    html_end_fold(p->out);
}
