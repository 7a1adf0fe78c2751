/* SPDX-License-Identifier: MIT */
/* html_verdict.c: what the table says, in sentences. */
#include <inttypes.h>
#include <math.h>

#include "report/html.h"
#include "report/numbers.h"

static void add_label(struct html_page *p, const struct result_row *row)
{
    strbuf_add(p->out, "<b>");
    html_text(p->out, results_row_label(p->r, row, p->a));
    strbuf_add(p->out, "</b>");
}

static void add_interval(struct html_page *p, double x, double half)
{
    struct strbuf text;
    strbuf_init(&text);
    number_interval(&text, x, half, false);
    html_text(p->out, text.text);
    strbuf_release(&text);
}

static const struct result_row *best_row(const struct results *r, int length)
{
    const struct result_row *best = NULL;
    for (int i = 0; i < r->n_row; i++) {
        double mean = r->row[i].at[length].mean, other = best ? best->at[length].mean : 0.0;
        if (r->row[i].at[length].n && (!best || (r->goal_max ? mean > other : mean < other)))
            best = &r->row[i];
    }
    return best;
}

/* ---- sentences ---- */

static void say_best(struct html_page *p, const struct result_row *best, int length)
{
    const struct results *r = p->r;
    const struct summary *s = &best->at[length];
    html_textf(p->out, "At %" PRId64 " %s ", r->length[length], r->length_unit);
    add_label(p, best);
    html_textf(p->out, " has the %s %s: ", r->goal_max ? "highest" : "lowest", r->metric);
    add_interval(p, s->mean, s->ci_high - s->mean);
    if (s->n > 1)
        strbuf_addf(p->out, " (mean and 95&nbsp;%% interval over %d seeds).", s->n);
    else
        strbuf_add(p->out, " (one seed: no interval).");
}

/* Seeds with which the smallest p of a sign-flip test, times m, is below .05: 2 m / 2^n. */
static int seeds_needed(int m)
{
    int n = 1;
    while (n < 30 && m * exp2(1 - n) >= 0.05)
        n++;
    return n;
}

static void say_significance(struct html_page *p, const struct summary *s, int length)
{
    struct strbuf text;
    int m = p->r->comparisons[length];
    strbuf_init(&text);
    number_p(&text, s->p);
    strbuf_addf(p->out, " Paired by seed, the exact sign-flip test gives p = %s", text.text);
    if (m > 1) {
        strbuf_clear(&text);
        number_p(&text, s->p_holm);
        strbuf_addf(p->out, ", and %s after Holm over %d comparisons", text.text, m);
    }
    strbuf_add(p->out, ".");
    if (m * exp2(1 - s->n_pairs) >= 0.05)
        strbuf_addf(p->out,
                    " With %d seed%s this test can not reach p &lt; .05 here: that takes %d or "
                    "more.",
                    s->n_pairs, s->n_pairs == 1 ? "" : "s", seeds_needed(m));
    strbuf_release(&text);
}

static void say_difference(struct html_page *p, const struct result_row *best, int length)
{
    const struct results *r = p->r;
    const struct summary *s = &best->at[length];
    if (best->baseline < 0)
        return;
    const struct result_row *baseline = &r->row[best->baseline];
    if (baseline == best) {
        strbuf_add(p->out, " It is the baseline: no row is better.");
        return;
    }
    if (isnan(s->diff))
        return;
    double mean = baseline->at[length].mean;
    strbuf_add(p->out, " That is ");
    add_interval(p, fabs(s->diff), s->diff_ci_high - s->diff);
    if (mean != 0.0)
        strbuf_addf(p->out, " (%.2g&nbsp;%%)", 100.0 * fabs(s->diff / mean));
    strbuf_addf(p->out, " %s than the baseline ", s->diff < 0.0 ? "lower" : "higher");
    add_label(p, baseline);
    strbuf_add(p->out, ".");
    say_significance(p, s, length);
}

/* Rows in bold beside the best one. */
static void say_company(struct html_page *p, const struct result_row *best, int length)
{
    enum { NAMED = 4 };
    const struct results *r = p->r;
    int n = 0;
    if (best->at[length].n < 2 || r->n_row < 2)
        return;
    for (int i = 0; i < r->n_row; i++)
        n += r->row[i].best[length] && &r->row[i] != best;
    if (n == 0) {
        strbuf_add(p->out, " Its paired difference to every other row has an interval without 0.");
        return;
    }
    strbuf_add(p->out, " Not separable from it: ");
    int named = 0;
    for (int i = 0; i < r->n_row && named < NAMED; i++) {
        if (!r->row[i].best[length] || &r->row[i] == best)
            continue;
        strbuf_add(p->out, named++ ? ", " : "");
        add_label(p, &r->row[i]);
    }
    if (n > named)
        strbuf_addf(p->out, " and %d more", n - named);
    strbuf_add(p->out, ".");
}

/* "1.32 times the baseline's", or nothing to compare with. */
static void say_ratio(struct html_page *p, double x, double y)
{
    if (!isfinite(x) || !isfinite(y) || y == 0.0)
        return;
    if (fabs(x / y - 1.0) < 0.0005)
        strbuf_add(p->out, " (as the baseline)");
    else
        strbuf_addf(p->out, " (%.3g times the baseline&#39;s)", x / y);
}

static void say_cost(struct html_page *p, const struct result_row *best)
{
    const struct result_row *baseline = best->baseline >= 0 && &p->r->row[best->baseline] != best
                                            ? &p->r->row[best->baseline]
                                            : NULL;
    struct strbuf count;
    strbuf_init(&count);
    number_count(&count, best->params);
    strbuf_addf(p->out, "<p>It costs %s parameters", count.text);
    say_ratio(p, best->params, baseline ? baseline->params : (double)NAN);
    strbuf_clear(&count);
    number_count(&count, best->flops_per_token);
    strbuf_addf(p->out, ", %s training FLOPs for a token", count.text);
    say_ratio(p, best->flops_per_token, baseline ? baseline->flops_per_token : (double)NAN);
    if (isfinite(best->step_ms_median)) {
        strbuf_addf(p->out, " and %.3g ms for a step", best->step_ms_median);
        say_ratio(p, best->step_ms_median, baseline ? baseline->step_ms_median : (double)NAN);
    }
    strbuf_add(p->out, ".</p>\n");
    strbuf_release(&count);
}

static void say_length(struct html_page *p, int length, bool with_cost)
{
    const struct result_row *best = best_row(p->r, length);
    if (!best)
        return;
    strbuf_add(p->out, "<p>");
    say_best(p, best, length);
    say_difference(p, best, length);
    say_company(p, best, length);
    strbuf_add(p->out, "</p>\n");
    if (with_cost)
        say_cost(p, best);
}

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

void html_verdict(struct html_page *p)
{
    html_section(p, "verdict", "What came out");
    strbuf_add(p->out, "<div class=\"verdict\">\n");
    if (p->length < 0 || !best_row(p->r, p->length))
        strbuf_add(p->out, "<p>Nothing is finished yet.</p>\n");
    else
        say_length(p, p->length, true);
    say_missing(p);
    strbuf_add(p->out, "</div>\n");
    for (int l = 0; l < p->r->n_length; l++)
        if (l != p->length)
            say_length(p, l, false);
    html_end_section(p);
}
