/* SPDX-License-Identifier: MIT */
/* html_verdict.c: what the table says: which row is best, by how much, how surely, at what cost. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "page/html.h"
#include "plot/plot.h"
#include "report/numbers.h"

/* ---- words ---- */

/* "learned · sum": labels without those that say nothing. */
static void add_label(struct html_page *p, const struct result_row *row)
{
    int n = 0;
    strbuf_add(p->out, "<b>");
    for (int i = 0; i < p->r->n_axis; i++)
        if (strcmp(row->axis[i], "-") != 0)
            html_textf(p->out, "%s%s", n++ ? " · " : "", row->axis[i]);
    strbuf_add(p->out, n ? "</b>" : "-</b>");
}

static void add_interval(struct html_page *p, double x, double half, bool with_sign)
{
    struct strbuf text;
    strbuf_init(&text);
    number_interval(&text, x, half, with_sign);
    html_text(p->out, text.text);
    strbuf_release(&text);
}

static void add_p(struct html_page *p, double x)
{
    struct strbuf text;
    strbuf_init(&text);
    number_p(&text, x);
    html_text(p->out, text.text);
    strbuf_release(&text);
}

static void add_count(struct html_page *p, double x)
{
    struct strbuf text;
    strbuf_init(&text);
    number_count(&text, x);
    html_text(p->out, text.text);
    strbuf_release(&text);
}

static const struct result_row *baseline_of(const struct html_page *p, const struct result_row *row)
{
    return row->baseline >= 0 ? &p->r->row[row->baseline] : NULL;
}

/* Rows in bold beside the best one. */
static void list_company(struct html_page *p, const struct result_row *best, int length)
{
    enum { NAMED = 4 };
    const struct results *r = p->r;
    int n = 0, named = 0;
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        if (!row->best[length] || row == best || row->task != best->task)
            continue;
        n++;
        if (named == NAMED)
            continue;
        strbuf_add(p->out, named++ ? ", " : "");
        add_label(p, row);
    }
    if (n > named)
        strbuf_addf(p->out, " and %d more", n - named);
}

static bool has_company(const struct results *r, const struct result_row *best, int length)
{
    for (int i = 0; i < r->n_row; i++)
        if (r->row[i].best[length] && &r->row[i] != best && r->row[i].task == best->task)
            return true;
    return false;
}

/* ---- how surely ---- */

/* Pairs with which the smallest p of the test, times m, is below .05. */
static int pairs_needed(enum paired_test test, int m)
{
    int n = 1;
    while (n < 40 && m * paired_p_smallest(test, n) >= 0.05)
        n++;
    return n;
}

static void say_significance(struct html_page *p, const struct summary *s, int length)
{
    enum paired_test test = p->r->test;
    int m = p->r->comparisons[length];
    if (s->p_holm < 0.05) {
        strbuf_add(p->out, "The gain is significant.");
    } else if (m * paired_p_smallest(test, s->pairs.n) >= 0.05) {
        strbuf_addf(
            p->out,
            "But %d seed%s cannot make it significant among %d comparison%s: that takes %d or "
            "more.",
            s->pairs.n, s->pairs.n == 1 ? "" : "s", m, m == 1 ? "" : "s", pairs_needed(test, m));
    } else {
        strbuf_add(p->out, "The gain is not significant.");
    }
}

static void say_against_baseline(struct html_page *p, const struct result_row *best, int length)
{
    const struct result_row *baseline = baseline_of(p, best);
    const struct summary *s = &best->at[length];
    if (!baseline)
        return;
    if (baseline == best) {
        strbuf_add(p->out, "It is the baseline: no row is better. ");
        return;
    }
    if (s->pairs.n < 2) {
        if (s->pairs.n == 1)
            return;
        strbuf_add(p->out, "Nothing pairs it with the baseline ");
        add_label(p, baseline);
        strbuf_add(p->out, ". ");
        return;
    }
    bool apart = s->diff_ci_low > 0.0 || s->diff_ci_high < 0.0;
    strbuf_add(p->out, apart ? "It is better than the baseline "
                             : "It cannot be told from the "
                               "baseline ");
    add_label(p, baseline);
    strbuf_add(p->out, apart ? ": the 95&nbsp;% interval of the gain leaves out 0. "
                             : ": the 95&nbsp;% interval of the gain has 0 in it. ");
    say_significance(p, s, length);
    strbuf_add(p->out, " ");
}

static void say_how_surely(struct html_page *p, const struct result_row *best, int length)
{
    strbuf_add(p->out, "<p>");
    if (best->at[length].n < 2)
        strbuf_add(p->out, "One seed: there is no interval, and no row can be told from another. ");
    say_against_baseline(p, best, length);
    if (best->at[length].n >= 2 && p->r->n_row > 1) {
        if (has_company(p->r, best, length)) {
            strbuf_add(p->out, "Not separable from it: ");
            list_company(p, best, length);
            strbuf_add(p->out, ".");
        } else {
            strbuf_add(p->out, "Every other row is separable from it.");
        }
    }
    strbuf_add(p->out, "</p>\n");
}

/* ---- tiles ---- */

static void open_tile(struct html_page *p)
{
    strbuf_add(p->out, "<div><p class=\"value\">");
}

static void tile_label(struct html_page *p)
{
    strbuf_add(p->out, "</p><p class=\"soft\">");
}

static void close_tile(struct html_page *p)
{
    strbuf_add(p->out, "</p></div>\n");
}

static void add_value_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    open_tile(p);
    add_interval(p, s->mean, s->ci_high - s->mean, false);
    tile_label(p);
    html_text(p->out, p->r->metric);
    if (s->n > 1)
        strbuf_addf(p->out, ", mean and 95&nbsp;%% interval over %d seeds", s->n);
    else
        strbuf_add(p->out, ", one seed");
    close_tile(p);
}

static void add_difference_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    const struct result_row *baseline = baseline_of(p, best);
    double mean = baseline ? baseline->at[length].mean : (double)NAN;
    open_tile(p);
    add_interval(p, s->diff, s->diff_ci_high - s->diff, true);
    tile_label(p);
    strbuf_add(p->out, "against ");
    add_label(p, baseline);
    strbuf_addf(p->out, ", paired over %d seed%s", s->pairs.n, s->pairs.n == 1 ? "" : "s");
    if (mean != 0.0)
        strbuf_addf(p->out, "; %.2g&nbsp;%% %s", 100.0 * fabs(s->diff / mean),
                    s->diff < 0.0 ? "lower" : "higher");
    close_tile(p);
}

static void add_p_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    int m = p->r->comparisons[length];
    open_tile(p);
    strbuf_add(p->out, "p = ");
    add_p(p, s->p_holm);
    tile_label(p);
    html_text(p->out, paired_test_name(p->r->test));
    if (m > 1) {
        strbuf_addf(p->out, ", Holm over %d comparisons; alone ", m);
        add_p(p, s->p);
    }
    if (isfinite(s->gz))
        strbuf_addf(p->out, "; effect size g<sub>z</sub> %+.2f", s->gz);
    close_tile(p);
}

/* " (1.32×)": against the baseline, where there is one. */
static void add_ratio(struct html_page *p, double x, double y)
{
    if (isfinite(x) && isfinite(y) && y != 0.0)
        strbuf_addf(p->out, " (%.2f×)", x / y);
}

static void add_cost_tile(struct html_page *p, const struct result_row *best)
{
    const struct result_row *baseline = baseline_of(p, best);
    bool compared = baseline && baseline != best;
    double unknown = (double)NAN;
    open_tile(p);
    add_count(p, best->params);
    strbuf_add(p->out, " parameters");
    tile_label(p);
    if (compared && isfinite(best->params / baseline->params))
        strbuf_addf(p->out, "%.2f× the baseline&#39;s; ", best->params / baseline->params);
    add_count(p, best->flops_per_token);
    strbuf_add(p->out, " training FLOPs a token");
    add_ratio(p, best->flops_per_token, compared ? baseline->flops_per_token : unknown);
    if (isfinite(best->step_ms_median)) {
        strbuf_addf(p->out, ", %.3g ms a step", best->step_ms_median);
        add_ratio(p, best->step_ms_median, compared ? baseline->step_ms_median : unknown);
    }
    close_tile(p);
}

static void add_tiles(struct html_page *p, const struct result_row *best, int length)
{
    bool compared = isfinite(best->at[length].diff);
    strbuf_add(p->out, "<div class=\"tiles\">\n");
    add_value_tile(p, best, length);
    if (compared)
        add_difference_tile(p, best, length);
    if (compared)
        add_p_tile(p, best, length);
    add_cost_tile(p, best);
    strbuf_add(p->out, "</div>\n");
}

static void add_headline(struct html_page *p, const struct result_row *best, int length)
{
    const struct results *r = p->r;
    strbuf_add(p->out, "<p class=\"headline\">");
    add_label(p, best);
    html_textf(p->out, " has the %s %s at %" PRId64 " %s", r->goal_max ? "highest" : "lowest",
               r->metric, r->length[length], r->length_unit);
    strbuf_add(p->out, "</p>\n");
}

/* ---- several lengths or tasks ---- */

static void add_heads(struct html_page *p, const char *first)
{
    const struct results *r = p->r;
    strbuf_add(p->out, "<div class=\"scroll\" tabindex=\"0\"><table>\n<thead><tr><th scope=\"col\" "
                       "class=\"number\">");
    html_text(p->out, first);
    strbuf_add(p->out, "</th><th scope=\"col\">best</th><th scope=\"col\" class=\"number\">");
    html_text(p->out, r->metric);
    strbuf_add(p->out, "</th>");
    if (r->baseline_text)
        strbuf_add(p->out, "<th scope=\"col\" class=\"number\">against the baseline</th>"
                           "<th scope=\"col\" class=\"number\">p (Holm)</th>");
    strbuf_add(p->out, "<th scope=\"col\">not separable from it</th></tr></thead>\n<tbody>\n");
}

static void add_line(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    strbuf_addf(p->out, "<tr><th scope=\"row\" class=\"number\">%" PRId64 "</th><td>",
                p->r->length[length]);
    add_label(p, best);
    strbuf_add(p->out, "</td><td class=\"number\">");
    add_interval(p, s->mean, s->ci_high - s->mean, false);
    strbuf_add(p->out, "</td>");
    if (p->r->baseline_text) {
        strbuf_add(p->out, "<td class=\"number\">");
        if (best == baseline_of(p, best))
            strbuf_add(p->out, "baseline");
        else
            add_interval(p, s->diff, s->diff_ci_high - s->diff, true);
        strbuf_add(p->out, "</td><td class=\"number\">");
        add_p(p, s->p_holm);
        strbuf_add(p->out, "</td>");
    }
    strbuf_add(p->out, "<td>");
    if (best->at[length].n >= 2)
        list_company(p, best, length);
    strbuf_add(p->out, "</td></tr>\n");
}

static void close_lines(struct html_page *p)
{
    strbuf_add(p->out, "</tbody>\n</table></div>\n");
}

static void add_lengths(struct html_page *p)
{
    const struct results *r = p->r;
    if (r->n_length < 2)
        return;
    add_heads(p, *r->length_unit ? r->length_unit : "length");
    for (int l = 0; l < r->n_length; l++) {
        const struct result_row *best = results_best(r, 0, l);
        if (best)
            add_line(p, best, l);
    }
    close_lines(p);
}

/* The length of the page, or the first that the task was evaluated at; -1: none. */
static int length_of(const struct html_page *p, int task)
{
    if (results_best(p->r, task, p->length))
        return p->length;
    for (int l = 0; l < p->r->n_length; l++)
        if (results_best(p->r, task, l))
            return l;
    return -1;
}

/* Values of different tasks are not compared: each has a best row of its own. */
static void add_tasks(struct html_page *p)
{
    const struct results *r = p->r;
    strbuf_addf(p->out, "<p class=\"headline\">%d tasks, each with a best row of its own</p>\n",
                r->n_task);
    add_heads(p, "length");
    for (int task = 0; task < r->n_task; task++) {
        int l = length_of(p, task);
        if (l >= 0)
            add_line(p, results_best(r, task, l), l);
    }
    close_lines(p);
}

/* ---- all ---- */

static void say_missing(struct html_page *p)
{
    const struct results *r = p->r;
    int counts = 0;
    for (int i = 0; i < r->n_cell; i++)
        counts += result_counts(&r->cell[i]);
    if (counts == r->n_cell)
        strbuf_addf(p->out, "<p class=\"soft\">All %d cells are in the means.</p>\n", counts);
    else
        strbuf_addf(p->out,
                    "<p class=\"soft\">%d of %d cells are in the means; <a href=\"#cells\">the "
                    "others</a> are not.</p>\n",
                    counts, r->n_cell);
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
        add_headline(p, best, p->length);
        say_how_surely(p, best, p->length);
        add_tiles(p, best, p->length);
    }
    say_missing(p);
}

void html_verdict(struct html_page *p)
{
    strbuf_add(p->out, "<section id=\"verdict\">\n<div class=\"verdict\">\n");
    add_verdict(p);
    strbuf_add(p->out, "</div>\n");
    html_plot(p, PLOT_BARS, "Every row",
              "Mean over seeds with its 95 % interval (Student t); small points are seeds, the "
              "dashed line is the baseline. The axis does not begin at 0.");
    if (p->r->n_task == 1)
        add_lengths(p);
    html_end_section(p);
}
