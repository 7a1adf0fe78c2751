/* SPDX-License-Identifier: MIT */
/* plot_points.c: a point with its interval for each row of the figure, its seeds below it: the mean
 * of each row of the results, or the differences of the report's contrasts. */

#include "plotter.h"

enum { ROW = 26, TOP = 16, TITLE = 24, BOTTOM = 58, RIGHT = 24, WIDTH = 460 };

/* Blocks of the data file; columns are y, then mean, low and high, or one value. */
enum block { MEANS, SEEDS, CHANCE };

struct points points_new(struct plotter *p, int n)
{
    struct points x = {.n = n,
                       .label = ARENA_ARRAY(p->a, n, const char *),
                       .row = ARENA_ARRAY(p->a, n, int),
                       .point = ARENA_ARRAY(p->a, n, struct seeds_point),
                       .label_most = 44,
                       .shape = 7};
    for (int i = 0; i < n; i++)
        x.row[i] = -1;
    return x;
}

static void add_value(struct plotter *p, const struct points *x, int i, double y, double value,
                      const char *kind)
{
    const double nan = (double)NAN;
    lines_add(p, y, value, nan, nan, plot_said(p, x->label[i], kind, value, nan, nan));
}

/* Ends a block that may be empty with a gap, because gnuplot refuses empty blocks. */
static void add_data(struct plotter *p, const struct points *x)
{
    const double below = 0.27;
    for (int i = 0; i < x->n; i++) {
        const struct seeds_point *at = &x->point[i];
        lines_add_interval(p, i, at->mean, at->low, at->high, x->label[i], "");
    }
    lines_end(p);
    for (int i = 0; i < x->n; i++)
        for (int k = 0; k < x->point[i].n; k++)
            add_value(p, x, i, i + below, x->point[i].seed[k], "one seed");
    lines_end_gap(p);
    for (int i = 0; i < x->n && x->has_chance; i++)
        add_value(p, x, i, i, x->point[i].chance, "by chance");
    lines_end_gap(p);
}

/* Draws the points of each row as an element of its own, so that a page can hide them. The integer
 * part of the first column is the row. */
static void add_rows(struct plotter *p, const struct points *x, enum block block,
                     const char *columns, const char *style, bool first)
{
    for (int i = 0; i < x->n; i++)
        figure_element(p->f, x->row[i]);
    strbuf_addf(&p->f->script,
                "%s for [i=0:%d] data index %d using (floor($1)==i?$2:NaN):%s with %s",
                first ? "plot" : ", \\\n ", x->n - 1, block, columns, style);
}

void points_draw(struct plotter *p, const struct points *x)
{
    struct strbuf *out = &p->f->script;
    int left = plot_label_width(p, x->n, x->label, x->label_most) + 24;
    int top = x->title ? TOP + TITLE : TOP;
    p->f->width = left + WIDTH + RIGHT;
    p->f->height = top + BOTTOM + ROW * (x->n < 3 ? 3 : x->n);
    plot_set_frame(p, (struct plot_frame){left, RIGHT, top, BOTTOM});
    add_data(p, x);
    strbuf_add(out, "set grid xtics ytics lc rgb '#bbbbbb' dt 3\nunset key\n"
                    "set offsets graph 0.03, graph 0.03, 0, 0\n");
    if (x->title)
        figure_set(out, "title", x->title, "");
    strbuf_add(out, "\n");
    figure_set(out, "xlabel", x->x_label, "\n");
    plot_add_tics(p, 'y', x->n, x->label, x->label_most);
    strbuf_addf(out, "set yrange [%d.5:-0.5]\n%s", x->n - 1, x->setting ? x->setting : "");
    add_rows(p, x, SEEDS, "1", "points pt 7 ps 0.4 lc rgb '#999999'", true);
    if (x->has_chance)
        add_rows(p, x, CHANCE, "1", "points pt 3 ps 0.9 lw 1.5 lc rgb '#888888'", false);
    add_rows(
        p, x, MEANS, "1:3:4",
        arena_printf(p->a, "xerrorbars pt %d ps 1.1 lw 2 lc rgb '%s'", x->shape, figure_colour(0)),
        false);
    add_rows(p, x, SEEDS, "1:5", PLOT_SAID, false);
    add_rows(p, x, MEANS, "1:5", PLOT_SAID, false);
    strbuf_add(out, "\n");
}

/* ---- bars ---- */

static double value_of(const struct plotter *p, const struct result_cell *c)
{
    return result_counts(c) ? c->value[p->length] : (double)NAN;
}

static struct points points_of(struct plotter *p)
{
    const struct results *r = p->r;
    struct points x = points_new(p, r->n_row);
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        const struct summary *s = &row->at[p->length];
        double *seed = ARENA_ARRAY(p->a, row->n_cell, double);
        for (int k = 0; k < row->n_cell; k++)
            seed[k] = value_of(p, row->cell[k]);
        x.label[i] = results_row_label(r, row, p->a);
        x.row[i] = i;
        x.point[i] = (struct seeds_point){s->mean, s->ci_low, s->ci_high, row->n_cell, seed, 0.0};
    }
    return x;
}

static void add_states(const struct plotter *p, struct strbuf *out)
{
    const struct results *r = p->r;
    for (int i = 0; i < r->n_row; i++) {
        const struct result_row *row = &r->row[i];
        if (row->at[p->length].n)
            continue;
        strbuf_addf(out, "set label '%s' at graph 0.02, first %d\n",
                    row->diverged  ? "diverged"
                    : row->failed  ? "failed"
                    : row->missing ? "not finished"
                                   : "no value",
                    i);
    }
}

/* The row with which all are compared; -1: no such row, or it has no value. */
int plot_baseline(const struct results *r, int length)
{
    int baseline = r->n_row ? r->row[0].baseline : -1;
    for (int i = 1; i < r->n_row; i++)
        if (r->row[i].baseline != baseline)
            return -1;
    return baseline >= 0 && r->row[baseline].at[length].n ? baseline : -1;
}

/* The interval of two seeds is twelve times as wide as their distance, and may reach beyond any
 * accuracy. Such intervals are cut off at the frame, so they do not compress everything else. */
static void add_range(const struct plotter *p, struct strbuf *out)
{
    double least = (double)INFINITY, most = -least, ci_low = least, ci_high = most;
    for (int i = 0; i < p->r->n_row; i++) {
        const struct result_row *row = &p->r->row[i];
        const struct summary *s = &row->at[p->length];
        for (int k = 0; s->n && k < row->n_cell; k++) {
            least = fmin(least, value_of(p, row->cell[k]));
            most = fmax(most, value_of(p, row->cell[k]));
        }
        ci_low = fmin(ci_low, s->n ? s->ci_low : (double)NAN);
        ci_high = fmax(ci_high, s->n ? s->ci_high : (double)NAN);
    }
    double span = most - least, low = least - span, high = most + span;
    if (!(span > 0.0) || (ci_low >= low && ci_high <= high))
        return;
    strbuf_addf(out, "set xrange [%.10g:%.10g]\nunset offsets\n", fmax(low, fmin(least, ci_low)),
                fmin(high, fmax(most, ci_high)));
}

peat_status plot_bars(struct plotter *p)
{
    struct strbuf setting = STRBUF_NEW;
    struct points x = points_of(p);
    bool any = false;
    for (int i = 0; i < x.n; i++)
        any = any || isfinite(x.point[i].mean);
    if (!any)
        return error_set(p->err, PEAT_INVALID, "no row has a value at this length");
    add_states(p, &setting);
    int baseline = plot_baseline(p->r, p->length);
    if (baseline >= 0)
        strbuf_addf(&setting,
                    "set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead dt 2 "
                    "lc rgb '#888888'\n",
                    x.point[baseline].mean, x.point[baseline].mean);
    add_range(p, &setting);
    x.x_label = plot_metric_label(p, NULL, true);
    x.setting = setting.text;
    points_draw(p, &x);
    strbuf_release(&setting);
    return PEAT_OK;
}

/* ---- forest ---- */

enum { EFFECTS_MAX = 400 };

struct forest {
    int n;
    const struct effect *effect[EFFECTS_MAX];
    const char *label[EFFECTS_MAX];
    const char *metric;
    bool goal_max;
    int64_t length;
};

/* Contrasts with another metric or length have another scale: only those like the first are
 * drawn. */
static peat_status collect(struct plotter *p, struct forest *f)
{
    int n = effects_count(p->r);
    if (n == 0)
        return error_set(p->err, PEAT_INVALID,
                         "there is no contrast to draw: the experiment has no report.contrasts");
    for (int i = 0; i < n; i++) {
        struct effects *own = p->o->contrasts ? NULL : ARENA_NEW(p->a, struct effects);
        const struct effects *x = own ? own : &p->o->contrasts[i];
        if (own &&
            effects_of_report(own, p->r, i, p->r->length[p->length], p->a, p->err) != PEAT_OK)
            return PEAT_INVALID;
        if (i == 0) {
            f->metric = x->metric;
            f->goal_max = x->goal_max;
            f->length = x->length;
        }
        struct listed_effect *list;
        int m = effects_list(x, &list, p->a);
        if (strcmp(x->metric, f->metric) != 0 || x->length != f->length)
            continue;
        for (int k = 0; k < m && f->n < EFFECTS_MAX; k++) {
            f->label[f->n] = arena_printf(p->a, "%s: %s", x->spec.name, list[k].e->name);
            f->effect[f->n++] = list[k].e;
        }
    }
    for (int i = 0; i < f->n; i++)
        if (f->effect[i]->of.n)
            return PEAT_OK;
    return error_set(p->err, PEAT_INVALID, "no contrast has a pair of values yet");
}

peat_status plot_forest(struct plotter *p)
{
    struct forest *f = ARENA_NEW(p->a, struct forest);
    if (collect(p, f) != PEAT_OK)
        return PEAT_INVALID;
    struct points x = points_new(p, f->n);
    for (int i = 0; i < f->n; i++) {
        const struct difference *d = &f->effect[i]->of;
        x.label[i] = f->label[i];
        x.point[i] = (struct seeds_point){d->mean, d->ci_low,       d->ci_high,
                                          d->n,    f->effect[i]->d, (double)NAN};
    }
    x.label_most = 60;
    x.title = f->goal_max ? "left of 0 the second is better, right of 0 the first"
                          : "left of 0 the first is better, right of 0 the second";
    x.x_label = arena_printf(p->a, "%s at %d %s: first minus second", f->metric, (int)f->length,
                             p->r->length_unit);
    x.setting = "set xrange [* < 0 : 0 < *]\n"
                "set arrow from 0, graph 0 to 0, graph 1 nohead dt 2 lc rgb '#888888'\n";
    x.shape = 5;
    points_draw(p, &x);
    return PEAT_OK;
}
