/* SPDX-License-Identifier: MIT */
/* html_drawing.c: plots, drawn by gnuplot, as elements of the page. */
#include <expat.h>

#include "page_parts.h"

/* ---- gnuplot's SVG, element by element ---- */

/* A drawing that is copied into the page. Its names get the number n, because a page has several
 * drawings. Name spaces are dropped, because HTML needs none. gnuplot's titles, "gnuplot_plot_1",
 * are replaced by the figure's texts on its rows and points. */
struct drawing {
    struct html_page *p;
    struct strbuf *out;
    const struct figure *f;
    const char *title;
    int n, element;
    bool in_text; /* characters outside of <text> are layout */
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The text of an element that gnuplot's own script would show on hover: its handler is
 * gnuplot_svg.showHypertext(evt,'the text'). */
static const char *said_in(struct drawing *d, const char *handler)
{
    const char *from = strchr(handler, '\''), *to = strrchr(handler, '\'');
    return from && to > from ? arena_printf(d->p->a, "%.*s", (int)(to - from - 1), from + 1) : "";
}

static void add_attribute(struct drawing *d, const char *name, const char *value)
{
    html_wrap(d->out, " ", name, "=\"");
    html_text(d->out, value);
    strbuf_add(d->out, "\"");
}

/* Names, in id, in references '#name' and in url(#name), get the drawing's number; that of a plot
 * command's element becomes the row that it shows. */
static void add_named(struct drawing *d, const char *name, const char *value)
{
    if (strcmp(name, "id") == 0 && begins(value, "gnuplot_plot_")) {
        int row = figure_row(d->f, d->element++);
        if (row >= 0)
            add_attribute(d, "data-row", results_row_label(d->p->r, &d->p->r->row[row], d->p->a));
    } else if (strcmp(name, "id") == 0)
        add_attribute(d, name, arena_printf(d->p->a, "f%d%s", d->n, value));
    else if (strcmp(name, "xlink:href") == 0 && *value == '#')
        add_attribute(d, "href", arena_printf(d->p->a, "#f%d%s", d->n, value + 1));
    else if (begins(value, "url(#"))
        add_attribute(d, name, arena_printf(d->p->a, "url(#f%d%s", d->n, value + 5));
    else
        add_attribute(d, strcmp(name, "xlink:href") == 0 ? "href" : name, value);
}

static void add_root(struct drawing *d, const char **attribute)
{
    static const char *const kept[] = {"width", "height", "viewBox"};
    strbuf_add(d->out, "<svg role=\"img\"");
    for (const char **a = attribute; *a; a += 2)
        for (size_t k = 0; k < sizeof(kept) / sizeof(*kept); k++)
            if (strcmp(a[0], kept[k]) == 0)
                add_attribute(d, a[0], a[1]);
    html_wrap(d->out, "><title>", d->title, "</title>");
}

static bool is_left_out(const char *tag)
{
    return strcmp(tag, "title") == 0 || strcmp(tag, "desc") == 0;
}

static void XMLCALL start_element(void *ctx, const char *tag, const char **attribute)
{
    struct drawing *d = ctx;
    const char *said = NULL;
    if (strcmp(tag, "svg") == 0)
        add_root(d, attribute);
    if (strcmp(tag, "svg") == 0 || is_left_out(tag))
        return;
    strbuf_addf(d->out, "<%s", tag);
    for (const char **a = attribute; *a; a += 2)
        if (strcmp(a[0], "onmousemove") == 0)
            said = said_in(d, a[1]);
        else if (!begins(a[0], "on") && !begins(a[0], "xml"))
            add_named(d, a[0], a[1]);
    strbuf_add(d->out, ">");
    if (said && *said)
        html_wrap(d->out, "<title>", said, "</title>");
    d->in_text = d->in_text || strcmp(tag, "text") == 0;
}

static void XMLCALL end_element(void *ctx, const char *tag)
{
    struct drawing *d = ctx;
    if (is_left_out(tag))
        return;
    strbuf_addf(d->out, "</%s>%s", tag, strcmp(tag, "svg") == 0 ? "\n" : "");
    d->in_text = d->in_text && strcmp(tag, "text") != 0;
}

static void XMLCALL add_characters(void *ctx, const char *text, int n)
{
    struct drawing *d = ctx;
    if (d->in_text)
        html_textf(d->out, "%.*s", n, text);
}

/* Adds nothing where the drawing is not the XML that it should be, or memory is short. */
static void add_drawing(struct html_page *p, const struct figure *f, const struct strbuf *svg,
                        const char *title)
{
    struct strbuf out = STRBUF_NEW;
    struct drawing d = {.p = p, .out = &out, .f = f, .title = title, .n = ++p->n_figure};
    XML_Parser parser = XML_ParserCreate("UTF-8");
    if (!parser)
        return;
    XML_SetUserData(parser, &d);
    XML_SetElementHandler(parser, start_element, end_element);
    XML_SetCharacterDataHandler(parser, add_characters);
    if (XML_Parse(parser, svg->text, (int)svg->n, XML_TRUE) == XML_STATUS_OK)
        strbuf_add_bytes(p->out, out.text, out.n);
    XML_ParserFree(parser);
    strbuf_release(&out);
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
        add_drawing(p, f, &svg, title);
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
                                   .contrasts = p->contrasts,
                                   .length = p->length >= 0 ? p->r->length[p->length] : -1};
    struct figure f;
    if (plot_make(&f, p->r, &o, p->a, NULL) == PEAT_OK) {
        if (f.panels > 1)
            caption = arena_printf(
                p->a, "%s A row that has nothing to combine stands in every panel.", caption);
        html_figure(p, &f, title, caption);
    }
    figure_release(&f);
}

/* ---- the plots of the results ---- */

void html_figures(struct html_page *p)
{
    html_section(p->out, "figures", "Figures");
    html_plot(p, PLOT_LENGTH, "By evaluation length",
              "Mean over seeds; the band is the 95 % interval.");
    html_plot(p, PLOT_CURVES, "By training step",
              "Mean over the seeds that trained so long; the band is the 95 % interval. The steep "
              "beginning may be cut off.");
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
                  "column that it goes with; hatched: no value.");
    html_end_fold(p->out);
}
