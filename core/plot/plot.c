/* SPDX-License-Identifier: MIT */
/* plot.c: what all figures of results have in common. */
#include "plot/plot.h"

#include <inttypes.h>
#include <string.h>

const char *const plot_kind_name[PLOT_KINDS] = {"curves", "bars", "length", "cost", "heatmap"};
const char *const plot_cost_name[PLOT_COSTS] = {"time", "flops", "params", "memory"};

static const char *keep(struct plotter *p, struct strbuf *text)
{
    const char *kept = arena_strdup(p->a, text->text);
    BUG_UNLESS(kept);
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
    return keep((struct plotter *)p, &text);
}

const char *plot_shorten(struct plotter *p, const char *text, int n)
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
    return keep(p, &out);
}

int plot_text_width(const char *text)
{
    const double em = 7.4; /* of the 13 px font; capitals are wider, most letters narrower */
    return (int)(em * (double)text_columns(text));
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
    int widest = 0;
    for (int i = 0; i < n; i++) {
        int width = SAMPLE + plot_text_width(plot_shorten(p, label[i], LABEL_MAX));
        widest = width > widest ? width : widest;
    }
    return widest;
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
        figure_quote(out, plot_shorten(p, label[i], LABEL_MAX));
    }
    strbuf_add(out, "\n");
}

static peat_status find_length(struct plotter *p)
{
    const struct results *r = p->r;
    struct strbuf known;
    if (r->n_length == 0)
        return error_set(p->err, PEAT_INVALID, "nothing is finished yet");
    for (p->length = 0; p->length < r->n_length; p->length++)
        if (p->o->length < 0 || r->length[p->length] == p->o->length)
            return PEAT_OK;
    strbuf_init(&known);
    for (int l = 0; l < r->n_length; l++)
        strbuf_addf(&known, "%s%" PRId64, l ? ", " : "", r->length[l]);
    return error_set(p->err, PEAT_INVALID,
                     "nothing was evaluated at length %" PRId64 "; there are %s", p->o->length,
                     keep(p, &known));
}

peat_status plot_make(struct figure *f, const struct results *r, const struct plot_options *o,
                      struct arena *a, struct error *err)
{
    struct plotter p = {.f = f, .r = r, .o = o, .a = a, .err = err};
    figure_init(f, 0, 0);
    peat_status status = find_length(&p);
    /* A grid that is under way has curves already. */
    if (status != PEAT_OK && !(o->kind == PLOT_CURVES && r->n_length == 0))
        return status;
    strbuf_add(&f->script, "set datafile missing 'NaN'\nset tics nomirror\nset border 3\n");
    switch (o->kind) {
    case PLOT_CURVES:
        return plot_curves(&p);
    case PLOT_BARS:
        return plot_bars(&p);
    case PLOT_LENGTH:
        return plot_length(&p);
    case PLOT_COST:
        return plot_against_cost(&p);
    default:
        return plot_heatmap(&p);
    }
}
