/* SPDX-License-Identifier: MIT */
/* plot_heatmap.c: a metric by two axes, or by an axis and the length. */

#include "plot/heatmap.h"
#include "plotter.h"
#include "report/numbers.h"
#include "report/selector.h"

enum { RIGHT = 96, TOP = 40, SIDE_X = 108, SIDE_Y = 30, LABEL_MAX = 30 };

/* Rows are labels of one axis; columns are labels of the other axes together, or lengths. */
struct grid {
    struct series_set s; /* the axes of `lines` make rows, those of `panels` make columns */
    int n_row, n_column;
    const char **row, **column, *title; /* title: of the columns */
    double *mean;                       /* [n_row, n_column] */
};

/* A row without a combination fills every column that it matches. */
static void fill_means(struct plotter *p, struct grid *g)
{
    const struct results *r = p->r;
    for (int i = 0; i < g->n_row * g->n_column; i++)
        g->mean[i] = (double)NAN;
    for (int i = 0; i < r->n_row; i++) {
        double *row = g->mean + g->s.series_of[i] * g->n_column;
        for (int k = 0; k < g->n_column; k++)
            if (!g->s.panelled)
                row[k] = r->row[i].at[k].mean;
            else if (series_in_panel(p, &g->s, i, k))
                row[k] = r->row[i].at[p->length].mean;
    }
}

/* Without options the heat map has a row for each scheme. */
static void choose_axes(struct plotter *p, struct series_set *s)
{
    const struct results *r = p->r;
    bool any = false;
    int scheme = selector_axis(r, "position.scheme");
    series_find(p, s);
    for (int i = 0; i < r->n_axis; i++)
        any = any || p->role[i] != AXIS_FREE;
    if (any)
        return;
    *s = (struct series_set){.panelled = r->n_axis > 1};
    for (int i = 0; i < r->n_axis; i++)
        s->makes_panel[i] = i != (scheme < 0 ? 0 : scheme);
    series_make(p, s);
}

static void fill_grid(struct plotter *p, struct grid *g)
{
    const struct results *r = p->r;
    *g = (struct grid){.n_column = r->n_length};
    choose_axes(p, &g->s);
    g->n_row = g->s.n_series;
    g->row = g->s.series;
    if (g->s.panelled) {
        g->n_column = g->s.n_panel;
        g->column = g->s.panel;
        for (int i = 0; i < r->n_axis; i++)
            if (g->s.makes_panel[i])
                g->title = arena_item(p->a, g->title, "%s", results_axis_name(r, i));
    } else {
        g->column = ARENA_ARRAY(p->a, r->n_length, const char *);
        for (int l = 0; l < r->n_length; l++)
            g->column[l] = arena_printf(p->a, "%" PRId64, r->length[l]);
        g->title = arena_printf(p->a, "evaluation length (%s)", r->length_unit);
    }
    g->mean = ARENA_ARRAY(p->a, (int64_t)g->n_row * g->n_column, double);
    fill_means(p, g);
}

static void find_grid_range(const struct grid *g, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = -(double)INFINITY;
    for (int i = 0; i < g->n_row * g->n_column; i++) {
        if (!isfinite(g->mean[i]))
            continue;
        *low = fmin(*low, g->mean[i]);
        *high = fmax(*high, g->mean[i]);
    }
    if (*low == *high)
        *high += fmax(1e-6, 1e-6 * fabs(*low));
}

/* Block 0 has colours, 1 and 2 the numbers on pale and on dark, 3 missing values, 4 the texts that
 * a page shows on hover. Blue is good. */
static void add_data(struct plotter *p, const struct grid *g, double low, double high)
{
    struct strbuf *out = &p->f->data;
    const double dark_from = 0.55;
    for (int i = 0; i < g->n_row; i++) {
        for (int k = 0; k < g->n_column; k++) {
            strbuf_add(out, k ? " " : "");
            figure_number(out, g->mean[i * g->n_column + k]);
        }
        strbuf_add(out, "\n");
    }
    for (int dark = 0; dark < 2; dark++) {
        strbuf_add(out, "\n\nNaN NaN -\n");
        for (int i = 0; i < g->n_row * g->n_column; i++) {
            double x = g->mean[i], at = (x / 2 - low / 2) / (high / 2 - low / 2);
            at = p->r->goal_max ? at : 1.0 - at;
            if (!isfinite(x) || (at >= dark_from) != dark)
                continue;
            strbuf_addf(out, "%d %d %s\n", i % g->n_column, i / g->n_column,
                        number_interval(p->a, x, (double)NAN, false));
        }
    }
    strbuf_add(out, "\n\nNaN NaN -\n");
    for (int i = 0; i < g->n_row * g->n_column; i++)
        if (!isfinite(g->mean[i]))
            strbuf_addf(out, "%d %d –\n", i % g->n_column, i / g->n_column);
    strbuf_add(out, "\n\n");
    for (int i = 0; i < g->n_row * g->n_column; i++) {
        const double nan = (double)NAN, x = g->mean[i];
        lines_add(p, i % g->n_column, isfinite(x) ? i / g->n_column : nan, nan, nan,
                  plot_said(p, g->row[i / g->n_column], g->column[i % g->n_column], x, nan, nan));
    }
}

/* The palette for values of one sign; darker is better. */
static void add_palette(struct plotter *p, double low, double high)
{
    struct strbuf *out = &p->f->script;
    double shift = low <= 0.0 ? 1.0 - low : 0.0;
    heatmap_palette(out, low + shift, high + shift);
    strbuf_addf(out, "set cbrange [%.10g:%.10g]\nset palette %s\nset cbtics %.10g, %.10g\n", low,
                high, p->r->goal_max ? "positive" : "negative", low, (high - low) / 2);
    strbuf_add(out, "set format cb '%.4g'\n");
}

peat_status plot_heatmap(struct plotter *p)
{
    struct grid g;
    struct strbuf *out = &p->f->script;
    double low, high;
    fill_grid(p, &g);
    find_grid_range(&g, &low, &high);
    if (low > high)
        return error_set(p->err, PEAT_INVALID, "no row has a value yet");
    add_data(p, &g, low, high);
    add_palette(p, low, high);
    plot_add_tics(p, 'x', g.n_column, g.column, LABEL_MAX);
    plot_add_tics(p, 'y', g.n_row, g.row, LABEL_MAX);
    int wide = plot_label_width(p, g.n_column, g.column, LABEL_MAX);
    int left = plot_label_width(p, g.n_row, g.row, LABEL_MAX) + 24;
    bool slanted = wide > SIDE_X - 8;
    int bottom = slanted ? 64 + wide / 2 : 64;
    int columns = g.n_column < 3 ? 3 : g.n_column, rows = g.n_row < 4 ? 4 : g.n_row;
    int beyond = slanted ? wide - SIDE_X / 2 : 0; /* room for the last slanted label */
    int right = beyond > RIGHT ? beyond : RIGHT;
    p->f->width = left + right + columns * SIDE_X;
    p->f->height = TOP + bottom + rows * SIDE_Y;
    plot_set_frame(p, (struct plot_frame){left, right, TOP, bottom});
    if (slanted)
        strbuf_add(out, "set xtics rotate by -30\n");
    strbuf_addf(out,
                "set border 15\nset tics scale 0\nunset key\n"
                "set xrange [-0.5:%d.5]\nset yrange [%d.5:-0.5]\n",
                g.n_column - 1, g.n_row - 1);
    figure_set(out, "title", plot_metric_label(p, NULL, g.s.panelled), "\n");
    figure_set(out, "xlabel", plot_short(p, g.title, p->f->width / 8), "\n");
    /* Missing values are hatched, because pale means a bad value. */
    strbuf_add(out, "set object 1 rectangle from graph 0, graph 0 to graph 1, graph 1 behind "
                    "fc rgb '#bbbbbb' fs pattern 4 noborder");
    /* Not quite black, because a page in dark colours turns black text white. */
    strbuf_add(out, "\nplot data index 0 matrix with image pixels, \\\n"
                    "  data index 1 using 1:2:3 with labels tc rgb '#000001', \\\n"
                    "  data index 2 using 1:2:3 with labels tc rgb '#fffffe', \\\n"
                    "  data index 3 using 1:2:3 with labels, \\\n  ");
    plot_add_said(p, 4, -1);
    strbuf_add(out, "\n");
    return PEAT_OK;
}
