/* SPDX-License-Identifier: MIT */
/* plot_forest.c: the differences of the report's contrasts, each with its interval and seeds. */
#include <math.h>
#include <string.h>

#include "plotter.h"
#include "report/effects.h"

enum {
    ROW = 26,
    TOP = 16,
    BOTTOM = 58,
    RIGHT = 24,
    WIDTH = 460,
    LABEL_MAX = 60,
    EFFECTS_MAX = 400
};

struct forest {
    int n;
    const struct effect *effect[EFFECTS_MAX];
    const char *label[EFFECTS_MAX];
    const char *metric;
    int64_t length;
};

static void add_effect(struct forest *f, const char *what, const struct effect *e, struct arena *a)
{
    if (f->n == EFFECTS_MAX)
        return;
    f->label[f->n] = arena_printf(a, "%s: %s", what, e->name);
    f->effect[f->n++] = e;
}

static void add_contrast(struct plotter *p, struct forest *f, const struct effects *x)
{
    for (int i = 0; i < x->n_line; i++)
        add_effect(f, x->spec.name, &x->line[i], p->a);
    for (int i = 0; i < x->n_margin; i++)
        add_effect(f, x->spec.name, &x->margin[i], p->a);
    if (!x->not_pooled && x->n_line > 1)
        add_effect(f, x->spec.name, &x->pooled, p->a);
}

/* Contrasts of another metric or length have another scale: those of the first are drawn. */
static peat_status collect(struct plotter *p, struct forest *f)
{
    int n = effects_count(p->r);
    if (n == 0)
        return error_set(p->err, PEAT_INVALID,
                         "there is no contrast to draw: the experiment has no report.contrasts");
    for (int i = 0; i < n; i++) {
        struct effects *x = ARENA_NEW(p->a, struct effects);
        peat_status status = effects_of_report(x, p->r, i, p->r->length[p->length], p->a, p->err);
        if (status != PEAT_OK)
            return status;
        if (i == 0) {
            f->metric = x->metric;
            f->length = x->length;
        }
        if (strcmp(x->metric, f->metric) == 0 && x->length == f->length)
            add_contrast(p, f, x);
    }
    for (int i = 0; i < f->n; i++)
        if (f->effect[i]->of.n)
            return PEAT_OK;
    return error_set(p->err, PEAT_INVALID, "no contrast has a pair of values yet");
}

/* Block 0: y, mean, low, high; block 1: y and a seed's difference. */
static void add_data(struct plotter *p, const struct forest *f)
{
    const double below = 0.27, nan = (double)NAN;
    for (int i = 0; i < f->n; i++) {
        const struct difference *d = &f->effect[i]->of;
        bool spread = isfinite(d->ci_low);
        lines_add(p, i, d->mean, spread ? d->ci_low : d->mean, spread ? d->ci_high : d->mean);
    }
    lines_end(p);
    lines_add(p, 0, nan, nan, nan);
    for (int i = 0; i < f->n; i++)
        for (int k = 0; k < f->effect[i]->of.n; k++)
            lines_add(p, i + below, f->effect[i]->d[k], nan, nan);
    lines_end(p);
}

static const char *axis_label(struct plotter *p, const struct forest *f)
{
    return arena_printf(p->a, "difference of %s at %d %s", f->metric, (int)f->length,
                        p->r->length_unit);
}

peat_status plot_forest(struct plotter *p)
{
    struct strbuf *out = &p->f->script;
    struct forest *f = ARENA_NEW(p->a, struct forest);
    peat_status status = collect(p, f);
    if (status != PEAT_OK)
        return status;
    int left = plot_label_width(p, f->n, f->label, LABEL_MAX) + 24;
    p->f->width = left + WIDTH + RIGHT;
    p->f->height = TOP + BOTTOM + ROW * (f->n < 3 ? 3 : f->n);
    plot_set_frame(p, (struct plot_frame){left, RIGHT, TOP, BOTTOM});
    add_data(p, f);
    strbuf_add(out, "set grid xtics ytics lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.03, graph 0.03, 0, 0\nset xlabel ");
    figure_quote(out, axis_label(p, f));
    strbuf_add(out, "\n");
    plot_add_tics(p, 'y', f->n, f->label, LABEL_MAX);
    strbuf_addf(out,
                "set yrange [%d.5:-0.5]\nset xrange [* < 0 : 0 < *]\n"
                "set arrow from 0, graph 0 to 0, graph 1 nohead dt 2 lc rgb '#888888'\n"
                "plot data index 1 using 2:1 with points pt 7 ps 0.4 lc rgb '#999999', \\\n"
                "  data index 0 using 2:1:3:4 with xerrorbars pt 5 ps 1.1 lw 2 lc rgb '%s'\n",
                f->n - 1, figure_colour(0));
    return PEAT_OK;
}
