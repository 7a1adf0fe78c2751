/* SPDX-License-Identifier: MIT */
/* plot_cost.c: a metric against what it costs. */
#include <math.h>

#include "plotter.h"

enum { LEFT = 96, TOP = 16, BOTTOM = 58, WIDTH = 480, HEIGHT = 340 };

static const char *const cost_label[PLOT_COSTS] = {"median time of a training step (ms)",
                                                   "training FLOPs for a token", "parameters",
                                                   "peak memory (MiB)"};

static double cost_of(const struct result_row *row, enum plot_cost cost)
{
    switch (cost) {
    case COST_TIME:
        return row->step_ms_median;
    case COST_FLOPS:
        return row->flops_per_token;
    case COST_PARAMS:
        return row->params;
    default:
        return row->peak_rss_kib / 1024.0;
    }
}

/* A block for each row. */
static int add_data(struct plotter *p)
{
    int n = 0;
    for (int i = 0; i < p->r->n_row; i++) {
        const struct result_row *row = &p->r->row[i];
        const struct summary *s = &row->at[p->length];
        double x = cost_of(row, p->o->cost);
        n += isfinite(x) && s->n > 0;
        lines_add_summary(p, x, s);
        lines_end(p);
    }
    return n;
}

/* Colours and shapes both change from row to row: there are no lines to tell them by. Intervals are
 * plain lines: behind the open points of its error bars gnuplot would paint white. */
static void add_rows(struct plotter *p, struct strbuf *out)
{
    for (int i = 0; i < p->r->n_row; i++) {
        const char *colour = figure_colour(i);
        strbuf_addf(out,
                    "%s  data index %d using 1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb '%s'"
                    ", \\\n  data index %d using 1:2 with points ps 1.2 lc rgb '%s' pt %d",
                    i ? ", \\\n" : "", i, colour, i, colour, figure_point(i));
    }
    strbuf_add(out, "\n");
}

static void add_axes(struct plotter *p, struct strbuf *out)
{
    strbuf_addf(out, "set xlabel '%s'\nset ylabel ", cost_label[p->o->cost]);
    figure_quote(out, plot_metric_label(p, true));
    strbuf_add(out, "\nset grid lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.06, graph 0.06, graph 0.06, graph 0.06\n");
}

peat_status plot_against_cost(struct plotter *p)
{
    const struct results *r = p->r;
    struct strbuf *out = &p->f->script;
    const char **label = plot_row_labels(p);
    if (add_data(p) == 0)
        return error_set(p->err, PEAT_INVALID, "no finished cell says what it cost");
    int legend = plot_legend_width(p, r->n_row, label), tall = plot_legend_height(r->n_row);
    p->f->width = LEFT + WIDTH + 20 + legend;
    p->f->height = TOP + (HEIGHT + BOTTOM > tall ? HEIGHT + BOTTOM : tall);
    add_axes(p, out);
    plot_set_frame(p, (struct plot_frame){LEFT, 20 + legend, TOP, BOTTOM});
    strbuf_add(out, "set multiplot\nplot \\\n");
    add_rows(p, out);
    plot_legend(p, "points ps 1.2", r->n_row, label);
    strbuf_add(out, "unset multiplot\n");
    return PEAT_OK;
}
