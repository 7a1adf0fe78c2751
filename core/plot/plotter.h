/* SPDX-License-Identifier: MIT */
/* plotter.h: the kinds of plots, and functions that they share. */
#pragma once

#include "plot/plot.h"

/* What an axis makes in a plot: panels, lines, or neither. */
enum axis_role { AXIS_FREE, AXIS_LINES, AXIS_PANELS };

/* The input of a plot. `length` is an index of a length. */
struct plotter {
    struct figure *f;
    const struct results *r;
    const struct plot_options *o;
    int length;
    enum axis_role role[EXPERIMENT_MAX_AXES]; /* from the options */
    struct arena *a;
    struct error *err;
    int n_block, block_room; /* blocks of data written so far */
    bool *has_value;         /* [n_block] whether the block has a point to draw */
    bool any;                /* whether the block being written has one */
    double low, high;        /* range of y of the data so far; NaN at first */
};

/* plot.c: roles of the axes that the options name. */
peat_status plot_find_roles(struct plotter *p);
typedef peat_status plot_fn(struct plotter *p);
plot_fn plot_curves, plot_bars, plot_length, plot_against_cost, plot_heatmap, plot_forest;

/* ---- plotter.c ---- */

/* "bpb at 64 tokens (lower is better)"; split: NULL: the table's */
const char *plot_metric_label(const struct plotter *p, const char *split, bool with_length);
/* A row's labels of the axes with in[axis] == which: "sum, 4"; "-" only where that is all. */
const char *plot_labels_of(struct plotter *p, const struct result_row *row, const bool *in,
                           bool which);
/* The index of a text among *n distinct ones; a new one is added. */
int plot_number_of(const char **label, int *n, const char *text);
/* The text cut to so many columns with an ellipsis. */
const char *plot_short(struct plotter *p, const char *text, int columns);
/* "set ytics ('learned' 0, 'rotary' 1)", labels cut to `most` characters. */
void plot_add_tics(struct plotter *p, char axis, int n, const char *const *label, int most);
/* The approximate width of the widest of these labels, in px. */
int plot_label_width(struct plotter *p, int n, const char *const *label, int most);
/* The position of the axes of a single panel, in px from the edges. */
struct plot_frame {
    int left, right, top, bottom;
};
void plot_set_frame(struct plotter *p, struct plot_frame m);
/* Sets the range from the least value that was added to `high`, with a margin. Without such values
 * the range stays gnuplot's. */
void plot_set_y_range(const struct plotter *p, double high, struct strbuf *out);
/* Draws entries from the top of the right edge down, each as `with` draws it in its style (NULL:
 * that of its index). gnuplot cuts a legend at the height of its plot, so this one is the last
 * plot of a multiplot. */
void plot_legend(struct plotter *p, const char *with, int n, const char *const *label,
                 const char *const *style);
/* The size of a legend with these labels, in px. */
int plot_legend_width(struct plotter *p, int n, const char *const *label);
int plot_legend_height(int n);
/* "rotary.sum, step 300: 2.143 ± 0.012": the text of a point on hover. where: "" for no place; low
 * is NaN where there is no interval. */
const char *plot_said(struct plotter *p, const char *who, const char *where, double mean,
                      double low, double high);
/* The style of invisible points whose texts, a third column, an SVG keeps. */
#define PLOT_SAID "labels hypertext point pt 7 ps 1.5 lc rgb '#ff000000'"
/* Adds an element of such points for a data block of plot_lines.c. */
void plot_add_said(struct plotter *p, int block, int row);
/* " lc rgb '#0072B2' dt 1 pt 7" */
void plot_add_style(struct strbuf *out, int series);

/* ---- plot_series.c: rows that share a colour, and rows of a panel ---- */

struct series_set {
    int n_series;
    const char **series; /* labels of the series */
    int *series_of;      /* number of the series by row */
    bool panelled;       /* false: every row has its own colour, and there is one panel */
    bool makes_panel[EXPERIMENT_MAX_AXES];
    int n_panel;
    const char **panel;   /* titles of panels; "" for a single one                   */
    const int *panel_row; /* a row with the panel's labels                           */
};

void series_find(struct plotter *p, struct series_set *s);
/* The same, with panels made of the axes in s->makes_panel, as s->panelled requires. */
void series_make(struct plotter *p, struct series_set *s);
/* The panel with exactly the row's labels; -1: the row is only in panels of others. */
int series_own_panel(const struct plotter *p, const struct series_set *s, int row);
bool series_in_panel(const struct plotter *p, const struct series_set *s, int row, int panel);

/* ---- plot_lines.c: data block i is line i with columns x, mean, low, high, said ---- */

struct lines {
    const char *x_label, *y_label;
    const char *setting; /* lines of script for every panel: ranges, tics */
    int point_every;
    double x_low, x_high; /* axis of a panel without values */
    const char *also;     /* one more element of every panel; NULL: no more */
    const int *row;       /* index of the results' row, by line; NULL: line i is row i; -1: no
                           * row */
};

/* Adds a line of data; NaN makes a gap. said: from plot_said; NULL: no text. */
void lines_add(struct plotter *p, double x, double mean, double low, double high, const char *said);
/* The same, said as by plot_said; where there is no interval (low is NaN), low and high are the
 * mean. */
void lines_add_interval(struct plotter *p, double x, double mean, double low, double high,
                        const char *who, const char *where);
/* Ends the row's block, which must not be empty. */
void lines_end(struct plotter *p);
/* The same with the line of a gap, for a block that may be empty. */
void lines_end_gap(struct plotter *p);
void lines_draw(struct plotter *p, const struct series_set *s, const struct lines *l);

/* ---- plot_points.c ---- */

struct seeds_point {
    double mean, low, high; /* NaN: no interval */
    int n;
    const double *seed; /* [n] */
    double chance;
};

struct points {
    int n;
    const char **label;        /* [n] */
    int *row;                  /* [n] index of the results' row; -1: none */
    struct seeds_point *point; /* [n], from the top down */
    int label_most;            /* most characters of a label */
    const char *title;         /* title above the axes; NULL: no title */
    const char *x_label;
    const char *setting; /* lines of script before the plot; NULL: no lines */
    int shape;           /* gnuplot's number for the shape of a point */
    bool has_chance;
};

/* With filled circles and labels of usual length. */
struct points points_new(struct plotter *p, int n);
void points_draw(struct plotter *p, const struct points *x);
