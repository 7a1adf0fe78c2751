/* SPDX-License-Identifier: MIT */
/* html_figures.c: the plots of the results. */
#include "page_parts.h"

void html_figures(struct html_page *p)
{
    html_section(p->out, "figures", "Figures");
    html_plot(p, PLOT_LENGTH, "By evaluation length",
              "Mean over seeds; the band is the 95 % interval. A row that has nothing to combine "
              "stands in every panel.");
    html_plot(p, PLOT_CURVES, "By training step",
              "Mean over seeds; the band is the 95 % interval. The steep beginning may be cut "
              "off.");
    if (p->no_gnuplot)
        strbuf_add(p->out, "<p>The figures are left out: gnuplot is not installed here (Debian: "
                           "apt-get install gnuplot-nox). Write the report again with it.</p>\n");
    html_end_section(p->out);
}

void html_glances(struct html_page *p)
{
    if (p->no_gnuplot || p->length < 0)
        return;
    html_fold(p->out, "glances", "Cost, and two axes at a glance", false);
    html_plot(p, PLOT_COST, "Quality against cost",
              "Mean with its 95 % interval against the arithmetic of training, which no machine "
              "changes; peat plot --cost time draws what was measured.");
    if (p->r->n_axis > 1)
        html_plot(p, PLOT_HEATMAP, "Two axes at a glance",
                  "Means; darker is better. A row that has nothing to combine stands in every "
                  "column that it goes with; hatched: there is no such row.");
    html_end_fold(p->out);
}
