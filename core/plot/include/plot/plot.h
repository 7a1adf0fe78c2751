/* SPDX-License-Identifier: MIT */
/*
 * plot.h: figures of results.
 *
 * A colour is a label of one axis (the scheme, where that is an axis); with many rows the other
 * axes make panels. A figure shows the numbers of the table: the same means over seeds with the
 * same intervals.
 */
#pragma once

#include "plot/figure.h"
#include "report/effects.h"

enum plot_kind {
    PLOT_CURVES, /* metric against step, or the training loss where nothing was evaluated between */
    PLOT_BARS,   /* a row's mean with its interval, its seeds below it                            */
    PLOT_LENGTH, /* metric against evaluation length                                              */
    PLOT_COST,   /* metric against its cost                                                       */
    PLOT_HEATMAP, /* metric by two axes */
    PLOT_FOREST,  /* differences of the report's contrasts */
    PLOT_KINDS
};
extern const char *const plot_kind_name[PLOT_KINDS];

enum plot_cost { COST_TIME, COST_FLOPS, COST_PARAMS, COST_MEMORY, PLOT_COSTS };
extern const char *const plot_cost_name[PLOT_COSTS];

struct plot_options {
    enum plot_kind kind;
    enum plot_cost cost;
    int64_t length; /* length of curves, bars, cost and the heat map; -1: the first */
    bool asked;     /* the user asked for the metric: never draw the training loss instead */
    /* For curves, length, cost and the heat map: axes, comma-separated, by key or last part. A line
     * (colour, row) for each label of `lines`; a panel (shape, column) for each of `panels`. NULL:
     * plot_series.c chooses. */
    const char *lines, *panels;
    const struct effects *contrasts; /* those of the report; NULL: the forest computes them */
};

/* PEAT_INVALID: lines or panels name no axis, or one axis twice. */
peat_status plot_check(const struct results *r, const struct plot_options *o, struct arena *a,
                       struct error *err);
/* The row with which all are compared: bars have a dashed line for it. -1: no such row, or it has
 * no value. */
int plot_baseline(const struct results *r, int length);

/* Initialises f in any case. PEAT_INVALID: nothing can be drawn, with the reason. */
peat_status plot_make(struct figure *f, const struct results *r, const struct plot_options *o,
                      struct arena *a, struct error *err);
