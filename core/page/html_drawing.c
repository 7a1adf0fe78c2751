/* SPDX-License-Identifier: MIT */
/* html_drawing.c: plots, drawn by gnuplot, as elements of the page. */
#include <string.h>

#include "page_parts.h"

/* ---- gnuplot's SVG ---- */

/* The value of an attribute of the first tag; n: its length. */
static const char *attribute(const char *svg, const char *name, size_t *n)
{
    const char *end = strchr(svg, '>'), *at = strstr(svg, name);
    if (!at || !end || at > end)
        return NULL;
    at += strlen(name);
    *n = strcspn(at, "\"");
    return at;
}

/* gnuplot's names, in id='gpPt0', id='textbox', '#gpPt0' and url(#gpHatch1), begin with g or t, as
 * no colour does. Bytes before a name that begins behind `text`; 0: none does. */
static size_t before_name(const char *text)
{
    static const char *const before[] = {"id='", "id=\"", "'#", "\"#", "(#"};
    for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++) {
        size_t n = strlen(before[i]);
        if (strncmp(text, before[i], n) == 0 && (text[n] == 'g' || text[n] == 't'))
            return n;
    }
    return 0;
}

/* Only names in tags change, not labels. */
static void add_body(struct strbuf *out, const char *body, const char *end, int n)
{
    bool in_tag = false;
    while (body < end) {
        in_tag = *body == '<' || (in_tag && *body != '>');
        size_t before = in_tag ? before_name(body) : 0;
        strbuf_add_bytes(out, body, before ? before : 1);
        if (before)
            strbuf_addf(out, "f%d", n);
        body += before ? before : 1;
    }
}

static const char *after_head(const char *body)
{
    static const char *const own[] = {"</title>", "</desc>"};
    for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
        const char *at = strstr(body, own[i]);
        body = at ? at + strlen(own[i]) : body;
    }
    return body;
}

/* Adds gnuplot's drawing as an element: its names get the number n, because a page has several
 * drawings; its name space goes, because HTML needs none. */
static void add_drawing(struct strbuf *out, const char *svg, int n, const char *title)
{
    const char *start = strstr(svg, "<svg"), *end = start ? strstr(start, "</svg>") : NULL;
    size_t width = 0, height = 0, box = 0;
    const char *w = start ? attribute(start, " width=\"", &width) : NULL;
    const char *h = start ? attribute(start, " height=\"", &height) : NULL;
    const char *b = start ? attribute(start, " viewBox=\"", &box) : NULL;
    if (!end || !w || !h || !b)
        return;
    strbuf_addf(out, "<svg role=\"img\" width=\"%.*s\" height=\"%.*s\" viewBox=\"%.*s\">",
                (int)width, w, (int)height, h, (int)box, b);
    html_wrap(out, "<title>", title, "</title>");
    add_body(out, after_head(strchr(start, '>') + 1), end, n);
    strbuf_add(out, "</svg>\n");
}

/* ---- figures ---- */

void html_figure(struct html_page *p, const struct figure *f, const char *title,
                 const char *caption)
{
    struct strbuf svg = STRBUF_NEW;
    struct error err = {0};
    if (p->no_gnuplot)
        return;
    peat_status status = figure_draw(f, FIGURE_SVG, &svg, &err);
    p->no_gnuplot = status == PEAT_NOTFOUND;
    if (status == PEAT_OK) {
        html_wrap(p->out, "<h3>", title, "</h3>\n");
        strbuf_add(p->out, "<figure>\n<div class=\"drawing\" tabindex=\"0\">");
        add_drawing(p->out, svg.text, ++p->n_figure, title);
        html_wrap(p->out, "</div>\n<figcaption>", caption, "</figcaption>\n</figure>\n");
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
                                   .cost = COST_FLOPS,
                                   .lines = p->o->lines,
                                   .panels = p->o->panels,
                                   .length = p->length >= 0 ? p->r->length[p->length] : -1};
    struct figure f;
    if (plot_make(&f, p->r, &o, p->a, NULL) == PEAT_OK)
        html_figure(p, &f, title, caption);
    figure_release(&f);
}

/* ---- the plots of the results ---- */

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
