/* SPDX-License-Identifier: MIT */
/* plot_bars.c: a row's mean with its interval, and its seeds below it. */

#include "plotter.h"

enum { LABEL_MAX = 44 };

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
static int common_baseline(const struct results *r, int length)
{
    int baseline = r->n_row ? r->row[0].baseline : -1;
    for (int i = 1; i < r->n_row; i++)
        if (r->row[i].baseline != baseline)
            return -1;
    return baseline >= 0 && r->row[baseline].at[length].n ? baseline : -1;
}

bool plot_has_baseline(const struct results *r, int length)
{
    return common_baseline(r, length) >= 0;
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
    int baseline = common_baseline(p->r, p->length);
    if (baseline >= 0)
        strbuf_addf(&setting,
                    "set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead dt 2 "
                    "lc rgb '#888888'\n",
                    x.point[baseline].mean, x.point[baseline].mean);
    add_range(p, &setting);
    x.label_most = LABEL_MAX;
    x.x_label = plot_metric_label(p, NULL, true);
    x.setting = setting.text;
    x.shape = 7;
    points_draw(p, &x);
    strbuf_release(&setting);
    return PEAT_OK;
}
