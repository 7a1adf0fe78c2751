/* SPDX-License-Identifier: MIT */
/* stretches.c: differences in each stretch of the test text, from the losses that cells keep. */
#include "report/effects.h"

#include "maths/crossed.h"

enum { STRETCHES_MOST = 1024 };
/* Tolerance: values of a metric that is a multiple of the loss are summed in another order. */
#define SAME_FACTOR 1e-9

struct table {
    int J; /* 0: no cell was added yet */
    double *targets, *d;
    double factor;
};

const struct value *cell_stretches(const struct result_cell *c, int64_t length)
{
    const struct value *s;
    for (int i = 0; (s = json_get_item(c->result, "test_stretches", i)); i++)
        if (json_get_int(s, "length", -1) == length)
            return s;
    return NULL;
}

/* The factor from the mean loss to the metric; false: it differs from that of the cells before. */
static bool same_factor(struct table *t, double factor)
{
    if (isnan(t->factor))
        t->factor = factor;
    return factor != 0.0 && /* a metric that is 0 everywhere says nothing about its factor */
           fabs(factor - t->factor) <= SAME_FACTOR * fabs(t->factor); /* also false for NaN */
}

/* Adds weight times the cell's loss in each stretch to row d [J]. */
static bool stretches_add_cell(struct table *t, double *d, const struct result_cell *c,
                               double weight, const struct effects *x)
{
    const struct value *s = c ? cell_stretches(c, x->length) : NULL;
    const struct value *nll = value_get(s, "nll"), *targets = value_get(s, "targets");
    double sum = 0.0, n = 0.0;
    if (!nll || !targets || nll->n != t->J || targets->n != t->J)
        return false;
    for (int j = 0; j < t->J; j++) {
        double of = value_number(targets->item[j]);
        sum += value_number(nll->item[j]);
        n += of;
        if (isnan(t->targets[j]))
            t->targets[j] = of;
        if (t->targets[j] != of)
            return false;
        d[j] += of > 0.0 ? weight * value_number(nll->item[j]) / of : 0.0;
    }
    const struct measured *m = cell_measure(c, x->metric, "test", x->length);
    return m && same_factor(t, m->value * n / sum);
}

/* The stretches of the first cell with a weight. */
static int count_stretches(const struct effects *x, const double *weight, int64_t seed)
{
    for (int i = 0; i < x->pairs.n; i++) {
        if (weight[i] == 0.0)
            continue;
        const struct result_cell *c = row_cell(&x->r->row[x->pairs.pair[i].a], seed);
        int n = json_get_count(c ? cell_stretches(c, x->length) : NULL, "nll");
        return n <= STRETCHES_MOST ? n : 0;
    }
    return 0;
}

static bool fill(struct table *t, const struct effects *x, const double *weight, int n_seed,
                 const int64_t *seed)
{
    bool ok = t->J > 0;
    const struct result_row *row = x->r->row;
    for (int s = 0; ok && s < n_seed; s++)
        for (int i = 0; ok && i < x->pairs.n; i++) {
            const struct contrast_pair *p = &x->pairs.pair[i];
            double w = weight[i], *d = t->d + (size_t)s * (size_t)t->J;
            if (w != 0.0)
                ok = stretches_add_cell(t, d, row_cell(&row[p->a], seed[s]), w, x) &&
                     stretches_add_cell(t, d, row_cell(&row[p->b], seed[s]), -w, x);
        }
    for (int i = 0; ok && i < n_seed * t->J; i++) {
        t->d[i] *= t->factor;
        ok = isfinite(t->d[i]);
    }
    return ok;
}

void difference_add_text(struct difference *d, const struct effects *x, const double *weight,
                         const int64_t *seed)
{
    const int n_seed = d->n;
    struct crossed c = {(double)NAN, (double)NAN, (double)NAN};
    struct table t = {.factor = (double)NAN};
    if (!same_text(x->split, "test"))
        return;
    t.J = n_seed ? count_stretches(x, weight, seed[0]) : 0;
    t.targets = mem_array((size_t)t.J, sizeof(*t.targets), "targets of stretches");
    t.d = mem_array((size_t)t.J * (size_t)n_seed, sizeof(*t.d), "differences of stretches");
    for (int j = 0; j < t.J; j++)
        t.targets[j] = (double)NAN;
    if (fill(&t, x, weight, n_seed, seed))
        c = crossed_mean(t.d, n_seed, t.J, t.targets);
    free(t.targets);
    free(t.d);
    d->text_half = crossed_half(&c, 1.0 - STATS_LEVEL);
    d->text_se = sqrt(c.variance);
    d->text_df = c.df;
}
