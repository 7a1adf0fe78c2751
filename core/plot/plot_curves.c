/* SPDX-License-Identifier: MIT */
/* plot_curves.c: a metric against the training step. */

#include "cell/cellmetrics.h"
#include "plotter.h"

/* Steps are drawn at no more than BINS places: a seed's values at one place are averaged. */
enum { BINS = 120, STEPS_MIN = 3 };

/* The curves in metrics.jsonl. */
struct wanted {
    const char *metric, *split;
    int64_t length; /* -1: any length */
};

/* The values of one cell by place. */
struct history {
    int n[BINS];
    double step[BINS], value[BINS]; /* sums of values */
};

struct curve {
    double step[BINS], mean[BINS], low[BINS], high[BINS]; /* NaN: no value */
    int seeds[BINS], all; /* number of seeds at each place, and of all; some stop earlier */
};

/* Cells that still run have curves too. */
static bool is_drawn(const struct result_cell *c)
{
    return c->dir &&
           (c->state == CELL_DONE || c->state == CELL_RUNNING || c->state == CELL_PARTIAL);
}

/* ---- reading ---- */

/* What metrics.jsonl of one cell has of the wanted curve. */
struct trace {
    const struct wanted *wanted;
    struct arena *a;
    int n, room;
    struct trace_point {
        int64_t step;
        double value;
    } * point;
};

static bool read_point(void *ctx, int line, const struct value *v)
{
    struct trace *t = ctx;
    const struct wanted *w = t->wanted;
    int64_t step = json_get_int(v, "step", 0);
    bool fits = same_text(json_get_text(v, "metric"), w->metric) &&
                same_text(json_get_text(v, "split"), w->split) &&
                (w->length < 0 || json_get_int(v, "length", -1) == w->length);
    double value = json_get_number(v, "value");
    (void)line;
    if (fits && step > 0 && isfinite(value))
        *ARENA_APPEND(t->a, t->point, t->n, t->room) = (struct trace_point){step, value};
    return true;
}

/* Lines of other metrics, often many, are skipped before they are parsed. A cell that is not drawn
 * has no points. */
static struct trace read_cell(const struct result_cell *c, const struct wanted *w, struct arena *a)
{
    struct trace t = {.wanted = w, .a = a};
    if (is_drawn(c))
        metrics_each(c->dir, arena_printf(a, "\"%s\"", w->metric), read_point, &t, NULL);
    return t;
}

struct extent {
    int64_t last;
    int points; /* number of steps of the cell with the most */
};

static struct extent find_extent(const struct results *r, const struct wanted *w, struct arena *a)
{
    struct extent e = {.last = 0};
    struct arena_mark mark = arena_mark(a);
    for (int i = 0; i < r->n_cell; i++) {
        const struct trace t = read_cell(&r->cell[i], w, a);
        e.points = t.n > e.points ? t.n : e.points;
        for (int k = 0; k < t.n; k++)
            e.last = t.point[k].step > e.last ? t.point[k].step : e.last;
        arena_rewind(a, mark);
    }
    return e;
}

/* ---- means ---- */

static void fill_history(struct history *h, const struct trace *t, int64_t last)
{
    for (int k = 0; k < t->n; k++) {
        int bin = (int)((t->point[k].step - 1) * BINS / last);
        if (bin >= BINS)
            continue;
        h->n[bin]++;
        h->step[bin] += (double)t->point[k].step;
        h->value[bin] += t->point[k].value;
    }
}

static void average_seeds(const struct history *h, int n, double *x, struct curve *c)
{
    for (int bin = 0; bin < BINS; bin++) {
        int seeds = 0;
        double steps = 0.0;
        for (int i = 0; i < n; i++) {
            if (!h[i].n[bin])
                continue;
            steps += h[i].step[bin] / h[i].n[bin];
            x[seeds++] = h[i].value[bin] / h[i].n[bin];
        }
        double half = stats_ci_half(x, seeds);
        c->seeds[bin] = seeds;
        c->step[bin] = seeds ? steps / seeds : (double)NAN;
        c->mean[bin] = stats_mean(x, seeds);
        c->low[bin] = c->mean[bin] - half;
        c->high[bin] = c->mean[bin] + half;
    }
}

static void make_curve(struct plotter *p, const struct wanted *w, int64_t last,
                       const struct result_row *row, struct curve *c)
{
    struct arena_mark mark = arena_mark(p->a);
    struct history *h = ARENA_ARRAY(p->a, row->n_cell, struct history);
    double *x = ARENA_ARRAY(p->a, row->n_cell, double);
    int n = 0;
    for (int i = 0; i < row->n_cell; i++) {
        const struct trace t = read_cell(row->cell[i], w, p->a);
        fill_history(&h[n], &t, last);
        n += is_drawn(row->cell[i]);
    }
    average_seeds(h, n, x, c);
    c->all = n;
    arena_rewind(p->a, mark);
}

/* ---- drawing ---- */

/* A row without any point is drawn as one gap. */
static void add_curve(struct plotter *p, const char *label, const struct curve *c)
{
    int n = 0;
    for (int bin = 0; bin < BINS; bin++) {
        if (isnan(c->mean[bin]))
            continue;
        const char *where = arena_printf(p->a, "step %.0f", c->step[bin]);
        if (c->seeds[bin] < c->all)
            where = arena_printf(p->a, "%s, %d of %d seeds", where, c->seeds[bin], c->all);
        lines_add(p, c->step[bin], c->mean[bin], c->low[bin], c->high[bin],
                  plot_said(p, label, where, c->mean[bin], c->low[bin], c->high[bin]));
        n++;
    }
    (n ? lines_end : lines_end_gap)(p);
}

/* The highest end of a curve's intervals after the first tenth of the steps. */
static double later_high(const struct curve *c, int64_t last)
{
    double high = (double)NAN;
    for (int bin = 0; bin < BINS; bin++)
        if (c->step[bin] > 0.1 * (double)last)
            high = fmax(high, isnan(c->high[bin]) ? c->mean[bin] : c->high[bin]);
    return high;
}

/* All panels have one range, which leaves out a steep beginning: it would make the rest a line
 * along the bottom. */
static void add_range(const struct plotter *p, double later, struct strbuf *out)
{
    double top = p->high, span = later - p->low;
    if (!p->r->goal_max && isfinite(span) && p->high - p->low > 1.5 * span)
        top = later + 0.05 * span;
    plot_set_y_range(p, top, out);
}

/* Chooses evaluations, or the training loss where there are too few of them. */
static peat_status choose_metric(const struct plotter *p, struct wanted *w, struct extent *e)
{
    const struct results *r = p->r;
    bool train = r->n_length == 0 || strcmp(r->split, "train") == 0;
    *w = (struct wanted){r->n_length ? r->metric : "loss", train ? "train" : "valid",
                         train ? -1 : r->length[p->length]};
    *e = find_extent(r, w, p->a);
    if (e->points >= STEPS_MIN)
        return PEAT_OK;
    if (p->o->asked && r->n_length)
        return error_set(p->err, PEAT_INVALID,
                         "%s was evaluated at fewer than %d steps: set eval.every, or leave "
                         "--metric out for the training loss",
                         r->metric, STEPS_MIN);
    *w = (struct wanted){"loss", "train", -1};
    *e = find_extent(r, w, p->a);
    return e->points >= 1 ? PEAT_OK
                          : error_set(p->err, PEAT_INVALID, "no cell has taken a step yet");
}

peat_status plot_curves(struct plotter *p)
{
    struct wanted w;
    struct extent e;
    struct series_set s;
    struct curve *c = ARENA_NEW(p->a, struct curve);
    double later = (double)NAN;
    struct strbuf setting = STRBUF_NEW;
    peat_status status = choose_metric(p, &w, &e);
    if (status != PEAT_OK)
        return status;
    series_find(p, &s);
    for (int i = 0; i < p->r->n_row; i++) {
        make_curve(p, &w, e.last, &p->r->row[i], c);
        add_curve(p, results_row_label(p->r, &p->r->row[i], p->a), c);
        later = fmax(later, later_high(c, e.last));
    }
    bool loss = strcmp(w.split, "train") == 0;
    strbuf_addf(&setting, "set xrange [0:%" PRId64 "]\n", e.last);
    add_range(p, later, &setting);
    lines_draw(p, &s,
               &(struct lines){.x_label = "step",
                               .y_label = loss ? "loss of the training batch"
                                               : plot_metric_label(p, w.split, true),
                               .setting = setting.text,
                               .x_low = 0.0,
                               .x_high = (double)e.last,
                               .point_every = (e.points < BINS ? e.points : BINS) / 6 + 1});
    strbuf_release(&setting);
    return PEAT_OK;
}
