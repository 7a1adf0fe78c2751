/* SPDX-License-Identifier: MIT */
/* plot_bars.c: a row's mean with its interval, and its seeds below it. */
#include <math.h>

#include "plotter.h"

enum { ROW = 26, TOP = 16, BOTTOM = 58, RIGHT = 24, WIDTH = 460, LABEL_MAX = 44 };

/* Block 0: y, mean, low, high, row by row from the top; block 1: y and a seed's value. */
static void add_data(struct plotter *p)
{
    const struct results *r = p->r;
    const double below = 0.27;
    for (int i = 0; i < r->n_row; i++)
        lines_add_summary(p, i, &r->row[i].at[p->length]);
    lines_end(p);
    for (int i = 0; i < r->n_row; i++)
        for (int k = 0; k < r->row[i].n_cell; k++) {
            const struct result_cell *c = r->row[i].cell[k];
            bool counts = result_counts(c) && isfinite(c->value[p->length]);
            lines_add(p, i + below, counts ? c->value[p->length] : (double)NAN, (double)NAN,
                      (double)NAN);
        }
    lines_end(p);
}

static void add_rows(struct plotter *p, const char *const *label, struct strbuf *out)
{
    const struct results *r = p->r;
    plot_add_tics(p, 'y', r->n_row, label, LABEL_MAX);
    strbuf_addf(out, "set yrange [%d.5:-0.5]\n", r->n_row - 1);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        if (row->at[p->length].n)
            continue;
        strbuf_addf(out, "set label '%s' at graph 0.02, first %d\n",
                    row->diverged  ? "diverged"
                    : row->failed  ? "failed"
                    : row->missing ? "not finished"
                                   : "no value",
                    i);
    }
}

/* The row that all are compared with; -1: there is none, or it has no value. */
static int common_baseline(const struct results *r, int length)
{
    int baseline = r->n_row ? r->row[0].baseline : -1;
    for (int i = 1; i < r->n_row; i++)
        if (r->row[i].baseline != baseline)
            return -1;
    return baseline >= 0 && r->row[baseline].at[length].n ? baseline : -1;
}

bool plot_has_baseline(const struct results *r, int length)
{
    return common_baseline(r, length) >= 0;
}

/* A line to hold the others against. */
static void add_baseline(struct plotter *p, struct strbuf *out)
{
    int baseline = common_baseline(p->r, p->length);
    if (baseline < 0)
        return;
    double mean = p->r->row[baseline].at[p->length].mean;
    strbuf_addf(out,
                "set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead dt 2 "
                "lc rgb '#888888'\n",
                mean, mean);
}

/* Of means and seeds, and of intervals too. */
struct reach {
    double low, high, ci_low, ci_high;
};

static struct reach find_reach(const struct plotter *p)
{
    struct reach x = {(double)INFINITY, -(double)INFINITY, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < p->r->n_row; i++) {
        const struct result_row *row = &p->r->row[i];
        const struct summary *s = &row->at[p->length];
        for (int k = 0; s->n && k < row->n_cell; k++) {
            double value =
                result_counts(row->cell[k]) ? row->cell[k]->value[p->length] : (double)NAN;
            x.low = fmin(x.low, value);
            x.high = fmax(x.high, value);
        }
        x.ci_low = fmin(x.ci_low, s->n ? s->ci_low : (double)NAN);
        x.ci_high = fmax(x.ci_high, s->n ? s->ci_high : (double)NAN);
    }
    return x;
}

/* Two seeds have intervals twelve times as wide as what they saw, beyond what an accuracy can be:
 * these run out of the figure rather than squeeze the rest. */
static void add_range(struct plotter *p, struct strbuf *out)
{
    struct reach x = find_reach(p);
    double span = x.high - x.low, low = x.low - span, high = x.high + span;
    if (!(span > 0.0) || (x.ci_low >= low && x.ci_high <= high))
        return;
    strbuf_addf(out, "set xrange [%.10g:%.10g]\nunset offsets\n", fmax(low, fmin(x.low, x.ci_low)),
                fmin(high, fmax(x.high, x.ci_high)));
}

peat_status plot_bars(struct plotter *p)
{
    struct strbuf *out = &p->f->script;
    const char **label = plot_row_labels(p);
    int left = plot_label_width(p, p->r->n_row, label, LABEL_MAX) + 24;
    p->f->width = left + WIDTH + RIGHT;
    p->f->height = TOP + BOTTOM + ROW * (p->r->n_row < 3 ? 3 : p->r->n_row);
    plot_set_frame(p, (struct plot_frame){left, RIGHT, TOP, BOTTOM});
    add_data(p);
    if (!lines_have_value(p))
        return error_set(p->err, PEAT_INVALID, "no row has a value at this length");
    strbuf_add(out, "set grid xtics ytics lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.03, graph 0.03, 0, 0\nset xlabel ");
    figure_quote(out, plot_metric_label(p, true));
    strbuf_add(out, "\n");
    add_rows(p, label, out);
    add_baseline(p, out);
    add_range(p, out);
    strbuf_addf(out,
                "plot data index 1 using 2:1 with points pt 7 ps 0.4 lc rgb '#999999', \\\n"
                "  data index 0 using 2:1:3:4 with xerrorbars pt 7 ps 1.1 lw 2 lc rgb '%s'\n",
                figure_colour(0));
    return PEAT_OK;
}
