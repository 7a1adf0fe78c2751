/* SPDX-License-Identifier: MIT */
/* html_table.c: the results table, and below it every number in full. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "page/html.h"
#include "report/ranking.h"

static void open_table(struct html_page *p)
{
    strbuf_add(p->out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr>");
}

static void close_table(struct html_page *p)
{
    strbuf_add(p->out, "</tbody>\n</table></div>\n");
}

static void add_head(struct html_page *p, const char *text, bool number)
{
    strbuf_addf(p->out, "<th scope=\"col\"%s>", number ? " class=\"number\"" : "");
    html_text(p->out, text);
    strbuf_add(p->out, "</th>");
}

/* ---- in full ---- */

static void add_number(struct html_page *p, double x)
{
    char text[32];
    number_text(x, text);
    strbuf_addf(p->out, "<td class=\"number\">%s</td>", isfinite(x) ? text : "");
}

static void add_seeds(struct html_page *p, const struct result_row *row, int length)
{
    for (int i = 0; i < p->r->n_seed; i++) {
        const struct result_cell *c = row_cell(row, p->r->seed[i]);
        add_number(p, c && result_counts(c) ? c->value[length] : (double)NAN);
    }
}

static void add_row(struct html_page *p, const struct result_row *row, int length)
{
    const struct summary *s = &row->at[length];
    strbuf_add(p->out, "<tr><th scope=\"row\">");
    html_text(p->out, results_row_label(p->r, row, p->a));
    strbuf_addf(p->out,
                "</th><td class=\"number\">%" PRId64 "</td>"
                "<td class=\"number\">%d</td>",
                p->r->length[length], s->n);
    const double column[] = {s->mean,        s->sd,           s->ci_low, s->ci_high, s->diff,
                             s->diff_ci_low, s->diff_ci_high, s->p,      s->p_holm};
    for (size_t k = 0; k < sizeof(column) / sizeof(*column); k++)
        add_number(p, column[k]);
    add_seeds(p, row, length);
    strbuf_add(p->out, "</tr>\n");
}

static void add_exact(struct html_page *p)
{
    static const char *const head[] = {"length",       "n",       "mean",  "sd",
                                       "ci_low",       "ci_high", "diff",  "diff_ci_low",
                                       "diff_ci_high", "p",       "p_holm"};
    const struct results *r = p->r;
    if (r->n_length == 0)
        return;
    strbuf_add(p->out, "<details id=\"exact\"><summary>Every number in full, and each seed's"
                       "</summary>\n");
    open_table(p);
    add_head(p, "row", false);
    for (size_t k = 0; k < sizeof(head) / sizeof(*head); k++)
        add_head(p, head[k], true);
    for (int i = 0; i < r->n_seed; i++) {
        char seed[40];
        snprintf(seed, sizeof(seed), "seed %" PRId64, r->seed[i]);
        add_head(p, seed, true);
    }
    strbuf_add(p->out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < r->n_row; i++)
        for (int l = 0; l < r->n_length; l++)
            add_row(p, &r->row[i], l);
    close_table(p);
    strbuf_add(p->out, "</details>\n");
}

/* ---- as in the terminal ---- */

static void add_cell(struct html_page *p, const struct table *t, int row, int column)
{
    const struct table_cell *c = &t->cell[(int64_t)row * t->n_column + column];
    const char *tag = column < t->n_label ? "th scope=\"row\"" : "td";
    strbuf_addf(p->out, "<%s%s>%s", tag, t->column[column].right ? " class=\"number\"" : "",
                c->strong ? "<b>" : "");
    html_text(p->out, c->text);
    strbuf_add(p->out, c->strong ? "</b>" : "");
    if (*c->mark) {
        strbuf_add(p->out, "<sup>");
        html_text(p->out, c->mark);
        strbuf_add(p->out, "</sup>");
    }
    strbuf_add(p->out, column < t->n_label ? "</th>" : "</td>");
}

static void add_notes(struct html_page *p, const struct table *t)
{
    strbuf_add(p->out, "<ul class=\"notes\">\n");
    if (t->any_strong)
        strbuf_addf(p->out, "<li><b>bold</b>: %s</li>\n", t->strong);
    for (int i = 0; i < t->n_note; i++) {
        strbuf_add(p->out, "<li>");
        html_text(p->out, t->note[i]);
        strbuf_add(p->out, "</li>\n");
    }
    strbuf_add(p->out, "</ul>\n");
}

static void add_table(struct html_page *p, const struct table *t)
{
    strbuf_add(p->out, "<p class=\"soft\">");
    html_text(p->out, t->title);
    strbuf_add(p->out, "</p>\n");
    open_table(p);
    for (int k = 0; k < t->n_column; k++)
        add_head(p, t->column[k].head, t->column[k].right);
    strbuf_add(p->out, "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < t->n_row; i++) {
        strbuf_add(p->out, "<tr>");
        for (int k = 0; k < t->n_column; k++)
            add_cell(p, t, i, k);
        strbuf_add(p->out, "</tr>\n");
    }
    close_table(p);
}

peat_status html_table(struct html_page *p)
{
    struct table t;
    const struct table_options o = {.length = p->o->length};
    peat_status status = table_build(&t, p->r, &o, p->a, p->err);
    if (status != PEAT_OK)
        return status;
    html_section(p, "table", "Results");
    add_table(p, &t);
    add_notes(p, &t);
    add_exact(p);
    html_end_section(p);
    return PEAT_OK;
}

void html_ranks(struct html_page *p)
{
    struct ranking k;
    struct table t;
    if (p->r->n_task < 2 || ranking_make(&k, p->r, p->o->length, p->a, NULL) != PEAT_OK)
        return;
    ranking_table(&k, p->a, &t);
    html_section(p, "ranks", "Over tasks");
    add_table(p, &t);
    add_notes(p, &t);
    html_end_section(p);
}
