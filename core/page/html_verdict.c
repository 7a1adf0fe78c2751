/* SPDX-License-Identifier: MIT */
/* html_verdict.c: the best row, at every length or in every task: by how much, how surely, at what
 * cost. */

#include "page_parts.h"
#include "report/numbers.h"

/* "learned · sum" */
static void add_label(struct html_page *p, const struct result_row *row)
{
    int n = 0;
    strbuf_add(p->out, "<b>");
    for (int i = 0; i < p->r->n_axis; i++)
        if (strcmp(row->axis[i], "-") != 0)
            html_wrap(p->out, n++ ? " · " : "", row->axis[i], "");
    strbuf_add(p->out, n ? "</b>" : "-</b>");
}

static const struct result_row *baseline_of(const struct html_page *p, const struct result_row *row)
{
    return row->baseline >= 0 ? &p->r->row[row->baseline] : NULL;
}

static bool is_company(const struct result_row *row, const struct result_row *best, int length)
{
    return row->best[length] && row != best && row->group == best->group;
}

/* The rows whose difference from the best one may be chance. */
static void add_company(struct html_page *p, const struct result_row *best, int length)
{
    enum { NAMED = 4 };
    int n = 0;
    for (int i = 0; i < p->r->n_row; i++)
        if (is_company(&p->r->row[i], best, length) && n++ < NAMED) {
            strbuf_add(p->out, n > 1 ? ", " : "");
            add_label(p, &p->r->row[i]);
        }
    if (n > NAMED)
        strbuf_addf(p->out, " and %d more", n - NAMED);
}

/* ---- how surely ---- */

static void say_significance(struct html_page *p, const struct summary *s, int length)
{
    enum paired_test test = p->r->test;
    int m = p->r->comparisons[length];
    if (s->diff.p_holm < STATS_LEVEL) {
        strbuf_add(p->out, "The gain is significant.");
    } else if (!paired_can_show(test, s->pairs.n, m)) {
        strbuf_addf(
            p->out,
            "But %d seed%s cannot make it significant among %d comparison%s: that takes %d or "
            "more.",
            s->pairs.n, plural(s->pairs.n), m, plural(m),
            paired_pairs_needed(test, 2, m, STATS_LEVEL));
    } else {
        strbuf_add(p->out, "The gain is not significant.");
    }
}

/* Says of how many other rows the best row is the baseline; there may be several baselines. */
static void say_of_the_baseline(struct html_page *p, const struct result_row *best)
{
    int compared = 0, others = 0;
    for (int i = 0; i < p->r->n_row; i++) {
        const struct result_row *row = &p->r->row[i];
        others += row != best && row->group == best->group;
        compared += row != best && baseline_of(p, row) == best;
    }
    if (compared == others)
        strbuf_add(p->out, "It is the baseline: no row is better. ");
    else
        strbuf_addf(p->out, "It is the baseline of %d of the %d other rows. ", compared, others);
}

static void say_against_baseline(struct html_page *p, const struct result_row *best, int length)
{
    const struct result_row *baseline = baseline_of(p, best);
    const struct summary *s = &best->at[length];
    if (!baseline && p->r->baseline_text) {
        html_textf(p->out, "It adds no stream, so that the baseline (%s) does not apply to it. ",
                   p->r->baseline_text);
        return;
    }
    if (!baseline || (baseline != best && s->pairs.n == 1))
        return;
    if (baseline == best) {
        say_of_the_baseline(p, best);
        return;
    }
    if (s->pairs.n < 2) {
        strbuf_add(p->out, "Nothing pairs it with the baseline ");
        add_label(p, baseline);
        strbuf_add(p->out, ". ");
        return;
    }
    bool apart = s->diff.ci_low > 0.0 || s->diff.ci_high < 0.0;
    strbuf_add(p->out, apart ? "It is better than the baseline "
                             : "It cannot be distinguished from the baseline ");
    add_label(p, baseline);
    strbuf_addf(p->out, ": the 95&nbsp;%% interval of the gain %s. ",
                apart ? "leaves out 0" : "has 0 in it");
    say_significance(p, s, length);
    strbuf_add(p->out, " ");
}

static void say_how_surely(struct html_page *p, const struct result_row *best, int length)
{
    const bool one_seed = best->at[length].n < 2;
    int company = 0, others = 0;
    for (int i = 0; i < p->r->n_row; i++) {
        company += is_company(&p->r->row[i], best, length);
        others += &p->r->row[i] != best && p->r->row[i].group == best->group;
    }
    strbuf_add(p->out, "<p>");
    if (one_seed)
        strbuf_add(p->out,
                   "One seed: there is no interval, and differences between rows may be chance. ");
    say_against_baseline(p, best, length);
    if (!one_seed && company) {
        strbuf_add(p->out, "Not separable from it: ");
        add_company(p, best, length);
        strbuf_add(p->out, ".");
    } else if (!one_seed && others) {
        strbuf_add(p->out, "Every other row is separable from it.");
    }
    strbuf_add(p->out, "</p>\n");
}

/* ---- tiles ---- */

/* Opens a tile with its value; the tile's label follows. */
static void open_tile(struct html_page *p, const char *value)
{
    strbuf_addf(p->out, "<div><p class=\"value\">%s</p><p class=\"soft\">", value);
}

static void close_tile(struct html_page *p)
{
    strbuf_add(p->out, "</p></div>\n");
}

static void add_value_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct summary *s = &best->at[length];
    open_tile(p, number_interval(p->a, s->mean, s->ci_high - s->mean, false));
    html_text(p->out, p->r->metric);
    if (s->n > 1)
        strbuf_addf(p->out, ", mean and 95&nbsp;%% interval over %d seeds", s->n);
    else
        strbuf_add(p->out, ", one seed");
    close_tile(p);
}

static void add_difference_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct difference *d = &best->at[length].diff;
    const struct result_row *baseline = baseline_of(p, best);
    double mean = baseline ? baseline->at[length].mean : (double)NAN;
    open_tile(p, number_interval(p->a, d->mean, d->ci_high - d->mean, true));
    strbuf_add(p->out, "against ");
    add_label(p, baseline);
    strbuf_addf(p->out, ", paired over %d seed%s", d->n, plural(d->n));
    if (mean != 0.0)
        strbuf_addf(p->out, "; %.2g&nbsp;%% %s", 100.0 * fabs(d->mean / mean),
                    d->mean < 0.0 ? "lower" : "higher");
    close_tile(p);
}

static void add_p_tile(struct html_page *p, const struct result_row *best, int length)
{
    const struct difference *d = &best->at[length].diff;
    int m = p->r->comparisons[length];
    bool can = paired_can_show(p->r->test, d->n, m);
    open_tile(p, arena_printf(p->a, "%s%s", can ? "p = " : "",
                              number_tested_p(p->a, p->r->test, d->p_holm, d->n, m)));
    html_text(p->out, paired_test_name(p->r->test));
    if (m > 1)
        strbuf_addf(p->out, ", Holm over %d comparisons; alone %s", m,
                    number_tested_p(p->a, p->r->test, d->p, d->n, 1));
    if (!can && isfinite(d->p_t))
        strbuf_addf(p->out, "; paired t, if differences are normal: %s",
                    number_p(p->a, d->p_t_holm));
    if (isfinite(d->gz))
        strbuf_addf(p->out, "; effect size g<sub>z</sub> %+.2f", d->gz);
    close_tile(p);
}

/* " (1.32×)": against the baseline, where there is one. */
static void add_ratio(struct html_page *p, const struct result_row *best,
                      const struct result_row *baseline, enum quantity_name q)
{
    double x = best->q[q], y = baseline ? baseline->q[q] : (double)NAN;
    if (isfinite(x) && isfinite(y) && y != 0.0)
        strbuf_addf(p->out, " (%.2f×)", x / y);
}

static void add_cost_tile(struct html_page *p, const struct result_row *best)
{
    const struct result_row *baseline = baseline_of(p, best);
    if (baseline == best)
        baseline = NULL;
    open_tile(p, arena_printf(p->a, "%s parameters", number_count(p->a, best->q[Q_PARAMS])));
    if (baseline && isfinite(best->q[Q_PARAMS] / baseline->q[Q_PARAMS]))
        strbuf_addf(p->out, "%.2f× the baseline&#39;s; ",
                    best->q[Q_PARAMS] / baseline->q[Q_PARAMS]);
    strbuf_addf(p->out, "%s training FLOPs a token",
                number_count(p->a, best->q[Q_FLOPS_PER_TOKEN]));
    add_ratio(p, best, baseline, Q_FLOPS_PER_TOKEN);
    if (isfinite(best->q[Q_STEP_MS_MEDIAN])) {
        strbuf_addf(p->out, ", %.3g ms a step", best->q[Q_STEP_MS_MEDIAN]);
        add_ratio(p, best, baseline, Q_STEP_MS_MEDIAN);
    }
    close_tile(p);
}

static void add_tiles(struct html_page *p, const struct result_row *best, int length)
{
    bool compared = isfinite(best->at[length].diff.mean);
    strbuf_add(p->out, "<div class=\"tiles\">\n");
    add_value_tile(p, best, length);
    if (compared) {
        add_difference_tile(p, best, length);
        add_p_tile(p, best, length);
    }
    add_cost_tile(p, best);
    strbuf_add(p->out, "</div>\n");
}

static void add_best(struct html_page *p, const struct result_row *best, int length)
{
    const struct results *r = p->r;
    strbuf_add(p->out, "<p class=\"headline\">");
    add_label(p, best);
    html_textf(p->out, " has the %s %s at %" PRId64 " %s", r->goal_max ? "highest" : "lowest",
               r->metric, r->length[length], r->length_unit);
    strbuf_add(p->out, "</p>\n");
    say_how_surely(p, best, length);
    add_tiles(p, best, length);
}

/* ---- the best of each length or task ---- */

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
    add_label(p, best);
    strbuf_addf(p->out, "</td><td class=\"number\">%s</td>",
                number_interval(p->a, s->mean, s->ci_high - s->mean, false));
    if (p->r->baseline_text)
        strbuf_addf(p->out, "<td class=\"number\">%s</td><td class=\"number\">%s</td>",
                    best == baseline_of(p, best)
                        ? "baseline"
                        : number_interval(p->a, d->mean, d->ci_high - d->mean, true),
                    number_tested_p(p->a, p->r->test, d->p_holm, d->n, p->r->comparisons[length]));
    strbuf_add(p->out, "<td class=\"text\">");
    if (best->at[length].n >= 2)
        add_company(p, best, length);
    strbuf_add(p->out, "</td></tr>\n");
}

static void add_lengths(struct html_page *p)
{
    const struct results *r = p->r;
    if (r->n_length < 2)
        return;
    open_lines(p, *r->length_unit ? r->length_unit : "length");
    for (int l = 0; l < r->n_length; l++) {
        for (int group = 0; group < r->n_group; group++)
            if (results_best(r, group, l))
                add_line(p, results_best(r, group, l), l);
    }
    html_close_table(p->out);
}

/* The page's length, or the first at which the group was evaluated; -1: none. */
static int length_of(const struct html_page *p, int group)
{
    if (results_best(p->r, group, p->length))
        return p->length;
    for (int l = 0; l < p->r->n_length; l++)
        if (results_best(p->r, group, l))
            return l;
    return -1;
}

/* Values of different tasks are not compared, nor sizes with each other, so each group has its best
 * row. */
static void add_groups(struct html_page *p)
{
    const struct results *r = p->r;
    if (r->within_text)
        html_wrap(p->out, "<p class=\"headline\">Each ", r->within_text,
                  r->n_task > 1 ? " of each task has a best row of its own</p>\n"
                                : " has a best row of its own</p>\n");
    else
        strbuf_addf(p->out, "<p class=\"headline\">%d tasks, each with a best row of its own</p>\n",
                    r->n_task);
    open_lines(p, "length");
    for (int group = 0; group < r->n_group; group++) {
        int l = length_of(p, group);
        if (l >= 0)
            add_line(p, results_best(r, group, l), l);
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
    if (p->length < 0)
        strbuf_add(p->out, "<p class=\"headline\">Nothing is finished yet.</p>\n");
    else if (p->r->n_group > 1)
        add_groups(p);
    else if (best)
        add_best(p, best, p->length);
    else
        strbuf_add(p->out, "<p class=\"headline\">No cell has a value at this length.</p>\n");
    say_missing(p);
}

void html_verdict(struct html_page *p)
{
    strbuf_add(p->out, "<section id=\"verdict\">\n<div class=\"verdict\">\n");
    add_verdict(p);
    strbuf_add(p->out, "</div>\n");
    bool line = p->length >= 0 && plot_baseline(p->r, p->length) >= 0;
    html_plot(p, PLOT_BARS, "Every row",
              arena_printf(p->a,
                           "Mean over seeds with its 95 %% interval (Student t); small points are "
                           "seeds%s. The axis does not begin at 0; what runs out of it is cut.",
                           line ? ", the dashed line is the baseline" : ""));
    if (p->r->n_task == 1)
        add_lengths(p);
    html_end_section(p->out);
}
