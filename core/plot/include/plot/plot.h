/* SPDX-License-Identifier: MIT */
/*
 * plot.h: figures of results.
 *
 * A colour stands for a label of one axis (the scheme, where that is an axis); with many rows the
 * other axes make panels. What is drawn is what the table says: the same means over seeds with the
 * same intervals.
 */
#ifndef PLOT_PLOT_H
#define PLOT_PLOT_H

#include "plot/figure.h"
#include "report/results.h"

enum plot_kind {
    PLOT_CURVES, /* metric against step, or the training loss where nothing was evaluated between */
    PLOT_BARS,   /* a row's mean with its interval, its seeds below it                            */
    PLOT_LENGTH, /* metric against evaluation length                                              */
    PLOT_COST,   /* metric against what it costs                                                  */
    PLOT_HEATMAP, /* metric by two axes */
    PLOT_KINDS
};
extern const char *const plot_kind_name[PLOT_KINDS];

enum plot_cost { COST_TIME, COST_FLOPS, COST_PARAMS, COST_MEMORY, PLOT_COSTS };
extern const char *const plot_cost_name[PLOT_COSTS];

struct plot_options {
    enum plot_kind kind;
    enum plot_cost cost;
    int64_t length; /* of curves, bars, cost and the heat map; -1: the first */
    bool asked;     /* the metric was: never the training loss in its place  */
};

/* Initialises f in any case. PEAT_INVALID: there is nothing to draw, with the reason. */
peat_status plot_make(struct figure *f, const struct results *r, const struct plot_options *o,
                      struct arena *a, struct error *err);

/* ---- for the kinds ---- */

/* What a plot is made from. `length` is an index. */
struct plotter {
    struct figure *f;
    const struct results *r;
    const struct plot_options *o;
    int length;
    struct arena *a;
    struct error *err;
};

peat_status plot_curves(struct plotter *p);
peat_status plot_bars(struct plotter *p);
peat_status plot_length(struct plotter *p);
peat_status plot_against_cost(struct plotter *p);
peat_status plot_heatmap(struct plotter *p);

/* "bpb at 64 tokens (lower is better)" */
const char *plot_metric_label(const struct plotter *p, bool with_length);
/* A text of at most this many characters, the last one an ellipsis where it is cut. */
const char *plot_shorten(struct plotter *p, const char *text, int n);
/* Where the axes of the one panel are, in px from the edges. */
struct plot_frame {
    int left, right, top, bottom;
};
void plot_set_frame(struct plotter *p, struct plot_frame m);
/* Entries from the top of the right edge down, each as `with` draws it: the last plot of a
 * multiplot. gnuplot shows no more of a legend than its plot is tall, so that this one is a plot of
 * its own. */
void plot_legend(struct plotter *p, const char *with, int n, const char *const *label);
/* What a legend of these labels takes. */
int plot_legend_width(struct plotter *p, int n, const char *const *label);
int plot_legend_height(int n);
/* " lc rgb '#0072B2' dt 1 pt 7" */
void plot_add_style(struct strbuf *out, int series);
/* Width in px that a text of the figure's font takes, about. */
int plot_text_width(const char *text);

/* plot_series.c: which rows share a colour, which a panel. */
struct series_set {
    int n_series;
    const char **series; /* labels */
    int *series_of;      /* by row */
    int colour_axis;     /* -1: every row has its own colour and there is one panel */
    int n_panel;
    const char **panel;   /* titles; "" for a single one                             */
    const int *panel_row; /* a row that has the panel's labels                       */
};

void series_find(struct plotter *p, struct series_set *s);
bool series_in_panel(const struct plotter *p, const struct series_set *s, int row, int panel);

/* plot_lines.c: data block i is row i with columns x, mean, low, high. */
struct lines {
    const char *x_label, *y_label;
    const char *setting; /* lines of script for every panel: ranges, tics */
    int point_every;
};

/* Adds a line of data; NaN makes a gap. */
void lines_add(struct plotter *p, double x, double mean, double low, double high);
/* Ends row's block, which must not be empty: a gap will do. */
void lines_end(struct plotter *p);
void lines_draw(struct plotter *p, const struct series_set *s, const struct lines *l);

#endif
