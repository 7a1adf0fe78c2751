/* SPDX-License-Identifier: MIT */
/* html_verdict.c: the best row, at every length or in every task. */

#include "page_parts.h"
#include "report/numbers.h"

/* A table with the best row of each length, or of each task. */
static void open_lines(struct html_page *p, const char *first)
{
    html_open_table(p->out);
    html_column(p->out, first, true);
    html_column(p->out, "best", false);
    html_column(p->out, p->r->metric, true);
    if (p->r->baseline_text) {
        html_column(p->out, "against the baseline", true);
        html_column(p->out, "p (Holm)", true);
    }
    html_column(p->out, "not separable from it", false);
    html_open_rows(p->out);
}

static void add_line(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    const struct difference *d = &s->diff;
    strbuf_addf(p->out, "<tr><th scope=\"row\" class=\"number\">%" PRId64 "</th><td>",
                p->r->length[length]);
    html_label(p, best);
    strbuf_add(p->out, "</td><td class=\"number\">");
    strbuf_add(p->out, number_interval(p->a, s->mean, s->ci_high - s->mean, false));
    strbuf_add(p->out, "</td>");
    if (p->r->baseline_text) {
        strbuf_add(p->out, "<td class=\"number\">");
        strbuf_addf(p->out, "%s</td><td class=\"number\">%s</td>",
                    best == baseline_of(p, best)
                        ? "baseline"
                        : number_interval(p->a, d->mean, d->ci_high - d->mean, true),
                    number_tested_p(p->a, p->r->test, d->p_holm, d->n, p->r->comparisons[length]));
    }
    strbuf_add(p->out, "<td class=\"text\">");
    if (best->at[length].n >= 2)
        html_company(p, best, length);
    strbuf_add(p->out, "</td></tr>\n");
}

static void add_lengths(struct html_page *p)
{
    const struct results *r = p->r;
    if (r->n_length < 2)
        return;
    open_lines(p, *r->length_unit ? r->length_unit : "length");
    for (int l = 0; l < r->n_length; l++) {
        const struct result_row *best = results_best(r, 0, l);
        if (best)
            add_line(p, best, l);
    }
    html_close_table(p->out);
}

/* The page's length, or the first at which the task was evaluated; -1: none. */
static int length_of(const struct html_page *p, int task)
{
    if (results_best(p->r, task, p->length))
        return p->length;
    for (int l = 0; l < p->r->n_length; l++)
        if (results_best(p->r, task, l))
            return l;
    return -1;
}

/* Values of different tasks are not compared, so each task has its best row. */
static void add_tasks(struct html_page *p)
{
    const struct results *r = p->r;
    strbuf_addf(p->out, "<p class=\"headline\">%d tasks, each with a best row of its own</p>\n",
                r->n_task);
    open_lines(p, "length");
    for (int task = 0; task < r->n_task; task++) {
        int l = length_of(p, task);
        if (l >= 0)
            add_line(p, results_best(r, task, l), l);
    }
    html_close_table(p->out);
}

static void say_missing(struct html_page *p)
{
    const struct results *r = p->r;
    int counts = 0, all = results_count_reported(r);
    for (int i = 0; i < r->n_cell; i++)
        counts += result_is_reported(&r->cell[i]) && result_has_value(r, &r->cell[i]);
    if (counts == all)
        strbuf_addf(p->out, "<p class=\"soft\">All %d cells are in the means.</p>\n", counts);
    else
        strbuf_addf(p->out,
                    "<p class=\"soft\">%d of %d cells are in the means; <a href=\"#cells\">the "
                    "others</a> are not.</p>\n",
                    counts, all);
}

static void add_verdict(struct html_page *p)
{
    const struct result_row *best = p->length < 0 ? NULL : results_best(p->r, 0, p->length);
    if (p->length < 0) {
        strbuf_add(p->out, "<p class=\"headline\">Nothing is finished yet.</p>\n");
    } else if (p->r->n_task > 1) {
        add_tasks(p);
    } else if (!best) {
        strbuf_add(p->out, "<p class=\"headline\">No cell has a value at this length.</p>\n");
    } else {
        html_best(p, best, p->length);
    }
    say_missing(p);
}

void html_verdict(struct html_page *p)
{
    strbuf_add(p->out, "<section id=\"verdict\">\n<div class=\"verdict\">\n");
    add_verdict(p);
    strbuf_add(p->out, "</div>\n");
    bool line = p->length >= 0 && plot_has_baseline(p->r, p->length);
    html_plot(p, PLOT_BARS, "Every row",
              line ? "Mean over seeds with its 95 % interval (Student t); small points are seeds, "
                     "the dashed line is the baseline. The axis does not begin at 0; what runs out "
                     "of it is cut."
                   : "Mean over seeds with its 95 % interval (Student t); small points are seeds. "
                     "The axis does not begin at 0; what runs out of it is cut.");
    if (p->r->n_task == 1)
        add_lengths(p);
    html_end_section(p->out);
}
