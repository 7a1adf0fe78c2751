/* SPDX-License-Identifier: MIT */
/*
 * html.h: the results as one page that needs nothing else: no network, no script, no other file.
 */
#ifndef PAGE_HTML_H
#define PAGE_HTML_H

#include "plot/plot.h"
#include "report/results.h"

struct html_options {
    int n_dir;
    char *const *dir;
    int64_t length;   /* differences, figures and verdict are about it; -1: the first */
    const char *head; /* title; NULL: the experiment's name */
};

/* PEAT_INVALID: an option does not fit; what can't be drawn is left out, with a sentence. */
peat_status html_report(const struct results *r, const struct html_options *o, struct arena *a,
                        struct strbuf *out, struct error *err);

/* ---- for the parts ---- */

struct html_page {
    struct strbuf *out;
    const struct results *r;
    const struct html_options *o;
    int length; /* index; -1: nothing was measured */
    int n_figure;
    bool no_gnuplot; /* found to be missing: said once */
    struct arena *a;
    struct error *err;
};

/* & < > " ' escaped; control characters that HTML forbids become spaces. */
void html_text(struct strbuf *out, const char *text);
/* Printed, then escaped. */
void html_textf(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void html_section(struct html_page *p, const char *id, const char *title);
void html_end_section(struct html_page *p);

/* What gnuplot wrote, as part of the page: names made unique by n, and no name space, which HTML
 * does not need. */
void html_svg(struct strbuf *out, const char *svg, int n, const char *title);

peat_status html_table(struct html_page *p);
/* Ranks over tasks, where there are several. */
void html_ranks(struct html_page *p);
void html_verdict(struct html_page *p);
void html_figures(struct html_page *p);
void html_schemes(struct html_page *p);
void html_learned(struct html_page *p);
void html_injection(struct html_page *p);
void html_cells(struct html_page *p);
void html_provenance(struct html_page *p);
void html_reproduce(struct html_page *p);

/* A figure of plot.h at the page's length; nothing where it cannot be drawn. */
void html_plot(struct html_page *p, enum plot_kind kind, const char *title, const char *caption);
/* f as a <figure> with heading and caption; nothing but p->no_gnuplot where gnuplot is missing. */
void html_figure(struct html_page *p, const struct figure *f, const char *title,
                 const char *caption);

#endif
