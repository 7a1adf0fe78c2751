/* SPDX-License-Identifier: MIT */
/* stretches.c: computes the table of seeds and stretches for a sum of differences. */
#include "report/stretches.h"

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

static double item(const struct value *list, int j)
{
    const struct value *v = list->item[j];
    return v->kind == VALUE_INT || v->kind == VALUE_REAL ? v->real : (double)NAN;
}

/* The factor from the mean loss to the metric; false: it differs from that of the cells before. */
static bool same_factor(struct table *t, double factor)
{
    if (isnan(t->factor))
        t->factor = factor;
    return fabs(factor - t->factor) <= SAME_FACTOR * fabs(t->factor); /* also false for NaN */
}

/* Adds weight times the cell's loss in each stretch to row d [J]. */
static bool add_cell(struct table *t, double *d, const struct result_cell *c, double weight,
                     const char *metric, int64_t length)
{
    const struct value *s = c ? cell_stretches(c, length) : NULL;
    const struct value *nll = value_get(s, "nll"), *targets = value_get(s, "targets");
    double sum = 0.0, n = 0.0;
    if (!nll || !targets || nll->n != t->J || targets->n != t->J)
        return false;
    for (int j = 0; j < t->J; j++) {
        double of = item(targets, j);
        sum += item(nll, j);
        n += of;
        if (isnan(t->targets[j]))
            t->targets[j] = of;
        if (t->targets[j] != of)
            return false;
        d[j] += of > 0.0 ? weight * item(nll, j) / of : 0.0;
    }
    double value = json_get_number(result_measure(c->result, metric, "test", length), "value");
    return same_factor(t, value * n / sum);
}

/* The stretches of the first cell with a weight. */
static int count_stretches(const struct results *r, const struct weighted_pairs *p, int n_seed,
                           const int64_t *seed, int64_t length)
{
    for (int i = 0; n_seed > 0 && i < p->n; i++) {
        if (p->weight[i] == 0.0)
            continue;
        const struct result_cell *c = row_cell(&r->row[p->row[i][0]], seed[0]);
        int n = json_get_count(c ? cell_stretches(c, length) : NULL, "nll");
        return n <= STRETCHES_MOST ? n : 0;
    }
    return 0;
}

static bool fill(struct table *t, const struct results *r, const struct weighted_pairs *p,
                 int n_seed, const int64_t *seed, const char *metric, int64_t length)
{
    bool ok = t->J > 0;
    for (int s = 0; ok && s < n_seed; s++)
        for (int i = 0; ok && i < p->n; i++) {
            double w = p->weight[i], *d = t->d + (size_t)s * (size_t)t->J;
            if (w != 0.0)
                ok = add_cell(t, d, row_cell(&r->row[p->row[i][0]], seed[s]), w, metric, length) &&
                     add_cell(t, d, row_cell(&r->row[p->row[i][1]], seed[s]), -w, metric, length);
        }
    for (int i = 0; ok && i < n_seed * t->J; i++) {
        t->d[i] *= t->factor;
        ok = isfinite(t->d[i]);
    }
    return ok;
}

void difference_add_text(struct difference *d, const struct results *r,
                         const struct weighted_pairs *p, const int64_t *seed, const char *metric,
                         int64_t length)
{
    const int n_seed = d->n;
    struct crossed c = {(double)NAN, (double)NAN, (double)NAN};
    struct table t = {.J = count_stretches(r, p, n_seed, seed, length), .factor = (double)NAN};
    t.targets = mem_array((size_t)t.J, sizeof(*t.targets), "targets of stretches");
    t.d = mem_array((size_t)t.J * (size_t)n_seed, sizeof(*t.d), "differences of stretches");
    for (int j = 0; j < t.J; j++)
        t.targets[j] = (double)NAN;
    if (fill(&t, r, p, n_seed, seed, metric, length))
        c = crossed_mean(t.d, n_seed, t.J, t.targets);
    free(t.targets);
    free(t.d);
    d->text_half = crossed_half(&c, 1.0 - STATS_LEVEL);
    d->text_se = sqrt(c.variance);
    d->text_df = c.df;
}
