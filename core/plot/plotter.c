/* SPDX-License-Identifier: MIT */
/* plotter.c: texts, tics, frame and legend of plots. */
#include "plotter.h"

#include "report/numbers.h"

const char *plot_metric_label(const struct plotter *p, const char *split, bool with_length)
{
    const struct results *r = p->r;
    split = split ? split : r->split;
    const char *at = "", *part = strcmp(split, "test") == 0 ? ", test part" : "";
    if (strcmp(split, "train") == 0)
        at = " of the training batch";
    else if (with_length)
        at = arena_printf(p->a, " at %" PRId64 " %s%s", r->length[p->length], r->length_unit, part);
    else
        at = part;
    return arena_printf(p->a, "%s%s (%s is better)", r->metric, at,
                        r->goal_max ? "higher" : "lower");
}

/* Cuts text to so many columns and bytes, with an ellipsis at the end. An empty text is "-". */
static const char *shorten_text(struct plotter *p, const char *text, int columns, size_t bytes)
{
    static const char ellipsis[] = "…";
    text = *text ? shown_text(p->a, text) : "-";
    if (strlen(text) <= bytes && (int)text_columns(text) <= columns)
        return text;
    size_t n = text_fit(text, columns > 1 ? (size_t)columns - 1 : 0);
    while (n + sizeof(ellipsis) > bytes || (n && ((unsigned char)text[n] & 0xc0) == 0x80))
        n--;
    return arena_printf(p->a, "%.*s%s", (int)n, text, ellipsis);
}

const char *plot_short(struct plotter *p, const char *text, int columns)
{
    return shorten_text(p, text, columns, SIZE_MAX);
}

const char *plot_labels_of(struct plotter *p, const struct result_row *row, const bool *in,
                           bool which)
{
    const char *text = NULL;
    for (int i = 0; i < p->r->n_axis; i++)
        if (in[i] == which && strcmp(row->axis[i], "-") != 0)
            text = arena_item(p->a, text, "%s", row->axis[i]);
    return text ? text : "-";
}

int plot_number_of(const char **label, int *n, const char *text)
{
    int found = texts_find(label, *n, text);
    if (found < 0)
        label[found = (*n)++] = text;
    return found;
}

/* gnuplot reads the label of a tic with '%' as a format, and then keeps only so many bytes. */
static const char *tic_label(struct plotter *p, const char *label, int most)
{
    enum { FORMAT_BYTES = 48 };
    const char *text = plot_short(p, label, most);
    if (!strchr(text, '%'))
        return text;
    struct strbuf out = STRBUF_NEW;
    for (text = shorten_text(p, label, most, FORMAT_BYTES); *text; text++)
        strbuf_addf(&out, *text == '%' ? "%%%%" : "%c", *text);
    return strbuf_keep(&out, p->a);
}

void plot_add_tics(struct plotter *p, char axis, int n, const char *const *label, int most)
{
    struct strbuf *out = &p->f->script;
    strbuf_addf(out, "set %ctics (", axis);
    for (int i = 0; i < n; i++) {
        strbuf_add(out, i ? ", " : "");
        figure_quote(out, tic_label(p, label[i], most));
        strbuf_addf(out, " %d", i);
    }
    strbuf_add(out, ")\n");
}

int plot_label_width(struct plotter *p, int n, const char *const *label, int most)
{
    const double em = 7.4; /* px of a letter in the 13 px font; capitals are wider, most letters
                            * narrower */
    int widest = 0;
    for (int i = 0; i < n; i++) {
        int width = (int)(em * (double)text_columns(plot_short(p, label[i], most)));
        widest = width > widest ? width : widest;
    }
    return widest;
}

void plot_set_frame(struct plotter *p, struct plot_frame m)
{
    double w = p->f->width, h = p->f->height;
    strbuf_addf(&p->f->script,
                "set lmargin at screen %.4f\nset rmargin at screen %.4f\n"
                "set tmargin at screen %.4f\nset bmargin at screen %.4f\n",
                m.left / w, 1.0 - m.right / w, 1.0 - m.top / h, m.bottom / h);
}

void plot_set_y_range(const struct plotter *p, double high, struct strbuf *out)
{
    double margin = 0.05 * (high - p->low);
    if (p->low < high && isfinite(high + margin) && isfinite(p->low - margin))
        strbuf_addf(out, "set yrange [%.10g:%.10g]\n", p->low - margin, high + margin);
}

/* ---- texts that a page shows on hover ---- */

const char *plot_said(struct plotter *p, const char *who, const char *where, double mean,
                      double low, double high)
{
    if (!isfinite(mean))
        return NULL;
    return arena_printf(p->a, "%s%s%s: %s", who, *where ? ", " : "", where,
                        number_interval(p->a, mean, (high - low) / 2, false));
}

void plot_add_said(struct plotter *p, int block, int row)
{
    figure_element(p->f, row);
    strbuf_addf(&p->f->script, "data index %d using 1:2:5 with " PLOT_SAID, block);
}

/* ---- legend ---- */

enum { SAMPLE = 60, ENTRY = 24, LABEL_MAX = 38 };

void plot_add_style(struct strbuf *out, int series)
{
    strbuf_addf(out, " lc rgb '%s' dt %d pt %d", figure_colour(series), figure_dash(series),
                figure_point(series));
}

int plot_legend_width(struct plotter *p, int n, const char *const *label)
{
    return n ? SAMPLE + plot_label_width(p, n, label, LABEL_MAX) : 0;
}

int plot_legend_height(int n)
{
    return n * ENTRY;
}

void plot_legend(struct plotter *p, const char *with, int n, const char *const *label,
                 const char *const *style)
{
    enum { EDGE = 14 };
    struct strbuf *out = &p->f->script;
    int left = p->f->width - plot_legend_width(p, n, label);
    plot_set_frame(p, (struct plot_frame){left, 0, EDGE, 0});
    strbuf_addf(
        out,
        "unset border\nunset tics\nunset grid\nunset title\nunset xlabel\nunset ylabel\n"
        "unset arrow\nunset logscale\nset xrange [0:1]\nset yrange [0:1]\n"
        "set key at screen %.4f,%.4f left top Left reverse samplen 2.5 spacing 1.2 maxcols 1\n"
        "plot",
        (double)left / p->f->width, 1.0 - (double)EDGE / p->f->height);
    for (int i = 0; i < n; i++) {
        figure_element(p->f, -1);
        strbuf_addf(out, "%s NaN with %s", i ? ", \\\n" : "", with);
        if (style)
            strbuf_add(out, style[i]);
        else
            plot_add_style(out, i);
        strbuf_add(out, " title ");
        figure_quote(out, plot_short(p, label[i], LABEL_MAX));
    }
    strbuf_add(out, "\n");
}
