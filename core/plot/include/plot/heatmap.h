/* SPDX-License-Identifier: MIT */
/*
 * heatmap.h: tables of numbers as colours.
 *
 * Values of both signs get two hues that meet in white at 0 and one range for both; others go from
 * pale to dark with their distance from 0.
 */
#pragma once

#include "plot/figure.h"

/* A table of a scheme as its drawing has it (grid/schemefile.h). */
struct scheme_table {
    const char *what;             /* "stream", "bias", or the node's name: "angle" */
    int64_t heads, rows, columns; /* heads 0: one table for all heads              */
    float *value;                 /* [heads or 1, rows, columns]                   */
    const char *row_name, *column_name;
    const char *const *row_label; /* [rows]; NULL: the rows' numbers */
};

struct heatmap {
    const float *value; /* [sheets, rows, columns]; NaN is left blank */
    int64_t sheets, rows, columns;
    const char *sheet_name;   /* "head"; not shown for one sheet */
    const char *const *title; /* [sheets]; NULL: sheet_name and the sheet's number */
    const char *row_name, *column_name;
    const char *const *row_label; /* [rows]; NULL: the rows' numbers */
};

/* Borrows the table's values; shows angles as their cosines, which it computes in the arena. */
struct heatmap heatmap_of_scheme(const struct scheme_table *t, struct arena *a);

/* Shows each sheet of one table beside that of another of the same shape: "before training" and
 * "after". */
struct heatmap heatmap_of_pair(const struct scheme_table *before, const struct scheme_table *after,
                               struct arena *a);

/* The range of all sheets; -1 .. 1 when no value is finite. */
void heatmap_range(const struct heatmap *h, double *low, double *high);
/* gnuplot's "set palette" for values in this range. */
void heatmap_palette(struct strbuf *out, double low, double high);

/* Makes the figure, with axes and a scale. Initialises f. */
void heatmap_figure(const struct heatmap *h, struct figure *f);
