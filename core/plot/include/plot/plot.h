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
    PLOT_FOREST,  /* differences of the report's contrasts */
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

#endif
