/* SPDX-License-Identifier: MIT */
/* html_figures.c: figures drawn by gnuplot, as part of the page. */
#include <stdlib.h>

#include "page/html.h"
#include "plot/plot.h"

static void add_heading(struct html_page *p, const char *title)
{
    strbuf_add(p->out, "<h3>");
    html_text(p->out, title);
    strbuf_add(p->out, "</h3>\n");
}

void html_figure(struct html_page *p, const struct figure *f, const char *title,
                 const char *caption)
{
    struct strbuf svg;
    struct error err = {0};
    if (p->no_gnuplot)
        return;
    strbuf_init(&svg);
    peat_status status = figure_svg(f, &svg, &err);
    p->no_gnuplot = status == PEAT_NOTFOUND;
    if (status == PEAT_OK) {
        add_heading(p, title);
        strbuf_add(p->out, "<figure>\n<div class=\"drawing\" tabindex=\"0\">");
        html_svg(p->out, svg.text, ++p->n_figure, title);
        strbuf_add(p->out, "</div>\n<figcaption>");
        html_text(p->out, caption);
        strbuf_add(p->out, "</figcaption>\n</figure>\n");
    } else if (!p->no_gnuplot) {
        strbuf_add(p->out, "<p>");
        html_textf(p->out, "%s: %s.", title, err.text);
        strbuf_add(p->out, "</p>\n");
    }
    strbuf_release(&svg);
}

void html_plot(struct html_page *p, enum plot_kind kind, const char *title, const char *caption)
{
    const struct plot_options o = {.kind = kind,
                                   .length = p->length >= 0 ? p->r->length[p->length] : -1};
    struct figure f;
    if (plot_make(&f, p->r, &o, p->a, NULL) == PEAT_OK)
        html_figure(p, &f, title, caption);
    figure_release(&f);
}

void html_figures(struct html_page *p)
{
    html_section(p, "figures", "Figures");
    html_plot(p, PLOT_LENGTH, "By evaluation length",
              "Mean over seeds; the band is the 95 % interval. A row that has nothing to combine "
              "stands in every panel.");
    html_plot(p, PLOT_CURVES, "By training step",
              "Mean over seeds; the band is the 95 % interval. The steep beginning may be cut "
              "off.");
    html_plot(p, PLOT_COST, "Quality against cost",
              "Mean with its 95 % interval against the median time of a training step on the "
              "machine that ran it.");
    if (p->r->n_axis > 1)
        html_plot(p, PLOT_HEATMAP, "Two axes at a glance", "Means; darker is better.");
    if (p->no_gnuplot)
        strbuf_add(p->out, "<p>The figures are left out: gnuplot is not installed here (Debian: "
                           "apt-get install gnuplot-nox). Write the report again with it.</p>\n");
    html_end_section(p);
}
