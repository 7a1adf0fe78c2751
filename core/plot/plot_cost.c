/* SPDX-License-Identifier: MIT */
/* plot_cost.c: a metric against its cost. */

#include "plotter.h"
#include "report/numbers.h"

enum { LEFT = 96, TOP = 16, BOTTOM = 58, WIDTH = 480, HEIGHT = 340 };

static const char *const cost_label[PLOT_COSTS] = {"median time of a training step (ms)",
                                                   "training FLOPs for a token", "parameters",
                                                   "peak memory (MiB)"};

static double cost_of(const struct result_row *row, enum plot_cost cost)
{
    switch (cost) {
    case COST_TIME:
        return row->q[Q_STEP_MS_MEDIAN];
    case COST_FLOPS:
        return row->q[Q_FLOPS_PER_TOKEN];
    case COST_PARAMS:
        return row->q[Q_PARAMS];
    default:
        return row->q[Q_PEAK_RSS_KIB] / 1024.0;
    }
}

/* Adds a block for each row; returns the number of rows that are drawn. */
static int add_data(struct plotter *p)
{
    int n = 0;
    for (int i = 0; i < p->r->n_row; i++) {
        const struct result_row *row = &p->r->row[i];
        const struct summary *s = &row->at[p->length];
        double x = cost_of(row, p->o->cost);
        n += isfinite(x) && s->n > 0;
        lines_add_interval(p, x, s->mean, s->ci_low, s->ci_high, results_row_label(p->r, row, p->a),
                           arena_printf(p->a, "%s %s", cost_label[p->o->cost],
                                        p->o->cost == COST_TIME ? arena_printf(p->a, "%.3g", x)
                                                                : number_count(p->a, x)));
        lines_end(p);
    }
    return n;
}

/* The look of points and their legend: a colour for each series, a shape for each panel; without
 * panels both change from row to row. */
struct look {
    const char **colour; /* [n_row] "#0072B2"                          */
    const char **row;    /* [n_row] " lc rgb '#0072B2' pt 7"           */
    int n;               /* entries of the legend                      */
    const char **label, **style;
};

static const char *point_style(struct plotter *p, const char *colour, int shape)
{
    return arena_printf(p->a, " lc rgb '%s' pt %d", colour, figure_point(shape));
}

static void add_entry(struct look *l, const char *label, const char *style)
{
    l->label[l->n] = label;
    l->style[l->n++] = style;
}

static void find_look(struct plotter *p, struct look *l)
{
    struct series_set s;
    int n = p->r->n_row;
    bool shared = false; /* some row is shown in panels of others */
    series_find(p, &s);
    *l = (struct look){.colour = ARENA_ARRAY(p->a, n, const char *),
                       .row = ARENA_ARRAY(p->a, n, const char *),
                       .label = ARENA_ARRAY(p->a, 2 * n + 1, const char *),
                       .style = ARENA_ARRAY(p->a, 2 * n + 1, const char *)};
    for (int i = 0; i < n; i++) {
        int own = s.panelled ? series_own_panel(p, &s, i) : i;
        shared = shared || own < 0;
        l->colour[i] = figure_colour(s.series_of[i]);
        l->row[i] = point_style(p, l->colour[i], own < 0 ? s.n_panel : own);
    }
    for (int k = 0; k < s.n_series; k++)
        add_entry(l, s.series[k], point_style(p, figure_colour(k), s.panelled ? 0 : k));
    for (int k = 0; s.panelled && k < s.n_panel; k++)
        add_entry(l, s.panel[k], point_style(p, "#888888", k));
    if (shared)
        add_entry(l, "nothing to combine", point_style(p, "#888888", s.n_panel));
}

/* Intervals are drawn as plain lines, because gnuplot's error bars would paint white behind open
 * points. */
static void add_rows(struct plotter *p, const struct look *l, struct strbuf *out)
{
    for (int i = 0; i < p->r->n_row; i++) {
        figure_element(p->f, i);
        figure_element(p->f, i);
        strbuf_addf(out,
                    "%s  data index %d using 1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb '%s'"
                    ", \\\n  data index %d using 1:2 with points ps 1.2%s",
                    i ? ", \\\n" : "", i, l->colour[i], i, l->row[i]);
    }
    for (int i = 0; i < p->r->n_row; i++) {
        strbuf_add(out, ", \\\n  ");
        plot_add_said(p, i, i);
    }
    strbuf_add(out, "\n");
}

peat_status plot_against_cost(struct plotter *p)
{
    struct strbuf *out = &p->f->script;
    struct look l;
    if (add_data(p) == 0)
        return error_set(p->err, PEAT_INVALID, "no finished cell has this cost in its result");
    find_look(p, &l);
    int legend = plot_legend_width(p, l.n, l.label), tall = plot_legend_height(l.n);
    p->f->width = LEFT + WIDTH + 20 + legend;
    p->f->height = TOP + (HEIGHT + BOTTOM > tall ? HEIGHT + BOTTOM : tall);
    figure_set(out, "xlabel", cost_label[p->o->cost], "\n");
    figure_set(out, "ylabel", plot_metric_label(p, NULL, true),
               "\nset grid lc rgb '#bbbbbb' dt 3\nunset key\n");
    if (p->o->cost == COST_FLOPS || p->o->cost == COST_PARAMS)
        strbuf_add(out, "set format x '%.0s%c'\n");
    strbuf_add(out, "set offsets graph 0.06, graph 0.06, graph 0.06, graph 0.06\n");
    plot_set_frame(p, (struct plot_frame){LEFT, 20 + legend, TOP, BOTTOM});
    strbuf_add(out, "set multiplot\nplot \\\n");
    add_rows(p, &l, out);
    plot_legend(p, "points ps 1.2", l.n, l.label, l.style);
    strbuf_add(out, "unset multiplot\n");
    return PEAT_OK;
}
