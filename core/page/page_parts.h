/* SPDX-License-Identifier: MIT */
/* page_parts.h: the parts of the page, from its top to its end, and how they show a plot. */
#pragma once

#include "markup.h"
#include "page/html.h"
#include "plot/plot.h"

struct html_page {
    struct strbuf *out;
    const struct results *r;
    const struct html_options *o;
    int length; /* index; -1: nothing was measured */
    int n_figure;
    struct effects *contrasts; /* NULL: not computed yet */
    bool no_gnuplot;           /* found to be missing: said once */
    struct arena *a;
    struct error *err; /* a section that fails leaves its error here */
};

typedef void html_part(struct html_page *p);
html_part html_verdict, html_claims, html_contrasts, html_figures, html_table, html_exact,
    html_glances, html_learned, html_schemes, html_injection, html_cells, html_provenance,
    html_reproduce;

/* A table and its notes, in blocks where its columns do not fit the page. */
void html_results_table(struct html_page *p, const struct table *t);
/* The table without title and notes. lines: those of a text stay lines, except in labels; otherwise
 * line ends are shown as in html_text. */
void html_plain_table(struct html_page *p, const struct table *t, bool lines);

/* ---- html_drawing.c ---- */

/* A figure of plot.h at the page's length; nothing where it cannot be drawn. */
void html_plot(struct html_page *p, enum plot_kind kind, const char *title, const char *caption);
/* f as a <figure> with heading and caption; nothing but p->no_gnuplot where gnuplot is missing. */
void html_figure(struct html_page *p, const struct figure *f, const char *title,
                 const char *caption);
