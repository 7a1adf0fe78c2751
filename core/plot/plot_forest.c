/* SPDX-License-Identifier: MIT */
/* plot_forest.c: the differences of the report's contrasts, each with its interval and seeds. */

#include "plotter.h"

enum { LABEL_MAX = 60, EFFECTS_MAX = 400 };

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
    x.label_most = LABEL_MAX;
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
