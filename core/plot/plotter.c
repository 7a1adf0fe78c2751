/* SPDX-License-Identifier: MIT */
/* plotter.c: texts, tics, frame and legend of a plot. */
#include "plotter.h"

#include <inttypes.h>
#include <string.h>

static const char *keep_text(struct arena *a, struct strbuf *text)
{
    const char *kept = arena_strdup(a, text->text);
    strbuf_release(text);
    return kept;
}

const char *plot_metric_label(const struct plotter *p, bool with_length)
{
    const struct results *r = p->r;
    struct strbuf text;
    strbuf_init(&text);
    strbuf_add(&text, r->metric);
    if (strcmp(r->split, "train") == 0)
        strbuf_add(&text, " of the training batch");
    else if (with_length)
        strbuf_addf(&text, " at %" PRId64 " %s", r->length[p->length], r->length_unit);
    strbuf_addf(&text, " (%s is better)", r->goal_max ? "higher" : "lower");
    return keep_text(p->a, &text);
}

/* At most n characters, the last one an ellipsis where it is cut. */
static const char *shorten_text(struct plotter *p, const char *text, int n)
{
    struct strbuf out;
    int seen = 0;
    if ((int)text_columns(text) <= n)
        return text;
    strbuf_init(&out);
    /* Bytes 10xxxxxx go on with the character before. */
    for (; *text; text++) {
        seen += ((unsigned char)*text & 0xc0) != 0x80;
        if (seen == n)
            break;
        strbuf_add_bytes(&out, text, 1);
    }
    strbuf_add(&out, "…");
    return keep_text(p->a, &out);
}

const char **plot_row_labels(struct plotter *p)
{
    const char **label = ARENA_ARRAY(p->a, p->r->n_row, const char *);
    for (int i = 0; i < p->r->n_row; i++)
        label[i] = results_row_label(p->r, &p->r->row[i], p->a);
    return label;
}

const char *plot_other_labels(struct plotter *p, const struct result_row *row, int axis)
{
    struct strbuf text;
    strbuf_init(&text);
    for (int i = 0; i < p->r->n_axis; i++)
        if (i != axis)
            strbuf_addf(&text, "%s%s", text.n ? ", " : "", row->axis[i]);
    return keep_text(p->a, &text);
}

int plot_number_of(const char **label, int *n, const char *text)
{
    for (int i = 0; i < *n; i++)
        if (strcmp(label[i], text) == 0)
            return i;
    label[*n] = text;
    return (*n)++;
}

void plot_add_tics(struct plotter *p, char axis, int n, const char *const *label, int most)
{
    struct strbuf *out = &p->f->script;
    strbuf_addf(out, "set %ctics (", axis);
    for (int i = 0; i < n; i++) {
        strbuf_add(out, i ? ", " : "");
        figure_quote(out, shorten_text(p, label[i], most));
        strbuf_addf(out, " %d", i);
    }
    strbuf_add(out, ")\n");
}

int plot_label_width(struct plotter *p, int n, const char *const *label, int most)
{
    const double em = 7.4; /* of the 13 px font; capitals are wider, most letters narrower */
    int widest = 0;
    for (int i = 0; i < n; i++) {
        int width = (int)(em * (double)text_columns(shorten_text(p, label[i], most)));
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

void plot_legend(struct plotter *p, const char *with, int n, const char *const *label)
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
        strbuf_addf(out, "%s NaN with %s", i ? ", \\\n" : "", with);
        plot_add_style(out, i);
        strbuf_add(out, " title ");
        figure_quote(out, shorten_text(p, label[i], LABEL_MAX));
    }
    strbuf_add(out, "\n");
}
