/* SPDX-License-Identifier: MIT */
/*
 * effect_change.c: computes how an effect changes along an axis (experiment/change.h).
 *
 * Each seed that has the effect at every label asked for gives one number: a difference of two
 * effects, a least-squares slope, or a step from one label to the next. Tests over seeds then
 * assume only independent seeds (a summary measure for each subject: Matthews et al. 1990, BMJ 300,
 * 230; for slopes Lorch and Myers 1990, J. Exp. Psychol. Learn. Mem. Cogn. 16, 149).
 */
#include "report/effects.h"

struct levels {
    const struct effects *x;
    const struct change *c;
    struct arena *a;
    int n;
    const char **label;
};

/* The labels of an interaction, or all labels of a trend that have pairs, in their order. */
static struct levels list_levels(const struct effects *x, const struct change *c, struct arena *a)
{
    struct levels l = {x, c, a, 0, ARENA_ARRAY(a, x->pairs.n + 2, const char *)};
    bool interaction = c->kind == CHANGE_INTERACTION;
    for (int i = 0; i < (interaction ? 2 : x->pairs.n); i++)
        l.label[l.n++] = interaction ? c->label[i] : x->pairs.pair[i].label[c->axis];
    l.n = interaction ? l.n : change_order(l.label, l.n);
    return l;
}

/* Marks the strata that have the label; returns their number. */
static int strata_at(const struct levels *l, int level, bool *in)
{
    int n = 0;
    for (int j = 0; j < l->x->pairs.n; j++) {
        in[j] = same_text(l->x->pairs.pair[j].label[l->c->axis], l->label[level]);
        n += in[j];
    }
    return n;
}

/* The sum of weight[k] times the effect at label k, for each seed that has all labels; NaN weight:
 * the label is left out. */
static struct effect weighted(const struct levels *l, const double *weight, const char *name)
{
    const struct effects *x = l->x;
    double *sum = ARENA_ARRAY(l->a, x->r->n_seed, double);
    double *at = ARENA_ARRAY(l->a, x->r->n_seed, double);
    double *of_pair = ARENA_ARRAY(l->a, x->pairs.n, double);
    bool *all = ARENA_ARRAY(l->a, x->pairs.n, bool), *in = ARENA_ARRAY(l->a, x->pairs.n, bool);
    for (int k = 0; k < l->n; k++) {
        if (isnan(weight[k]))
            continue;
        int strata = strata_at(l, k, in);
        strata_means(x->d, x->r->n_seed, x->pairs.n, in, at);
        for (int s = 0; s < x->r->n_seed; s++)
            sum[s] += weight[k] * at[s];
        for (int j = 0; j < x->pairs.n; j++) {
            all[j] = all[j] || in[j];
            of_pair[j] += in[j] ? weight[k] / strata : 0.0;
        }
    }
    return effect_of_seeds(x, all, of_pair, sum, name, l->a);
}

static struct effect step(const struct levels *l, int from, int to, const char *name)
{
    double *weight = ARENA_ARRAY(l->a, l->n, double);
    for (int k = 0; k < l->n; k++)
        weight[k] = (double)NAN;
    weight[from] = -1.0;
    weight[to] = 1.0;
    return weighted(l, weight, name);
}

/* Least squares: the slope is the sum of (x - mean x) y / sum of (x - mean x)^2. */
static const char *slope(const struct levels *l, struct effect *out)
{
    double *x = ARENA_ARRAY(l->a, l->n, double), mean = 0.0, squares = 0.0;
    for (int k = 0; k < l->n; k++) {
        x[k] = change_x(l->c->scale, l->label[k], k);
        if (isnan(x[k]))
            return arena_printf(l->a, "a trend over %s needs numbers, and %s has '%s'",
                                change_scales[l->c->scale], results_axis_name(l->x->r, l->c->axis),
                                l->label[k]);
        mean += x[k] / l->n;
    }
    for (int k = 0; k < l->n; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    for (int k = 0; k < l->n; k++)
        x[k] = (x[k] - mean) / squares;
    *out = weighted(l, x, "slope");
    return NULL;
}

static const char *too_few(const struct levels *l)
{
    bool *in = ARENA_ARRAY(l->a, l->x->pairs.n, bool);
    const char *axis = results_axis_name(l->x->r, l->c->axis);
    for (int k = 0; l->c->kind == CHANGE_INTERACTION && k < l->n; k++)
        if (strata_at(l, k, in) == 0)
            return arena_printf(l->a, "no two rows of this run with '%s' of %s are compared",
                                l->label[k], axis);
    return l->n < 2 ? arena_printf(l->a,
                                   "a trend needs two labels of %s or more, and the rows that are "
                                   "compared have %d",
                                   axis, l->n)
                    : NULL;
}

int effect_changes(const struct effects *x, const struct change *c, struct effect **out,
                   const char **why, struct arena *a)
{
    struct levels l = list_levels(x, c, a);
    int n = c->kind == CHANGE_MONOTONE ? l.n - 1 : 1;
    *why = too_few(&l);
    if (*why)
        return 0;
    *out = ARENA_ARRAY(a, n, struct effect);
    if (c->kind == CHANGE_SLOPE)
        *why = slope(&l, *out);
    else if (c->kind == CHANGE_INTERACTION)
        **out = step(&l, 1, 0, "interaction");
    for (int i = 0; c->kind == CHANGE_MONOTONE && i < n; i++)
        (*out)[i] = step(&l, i, i + 1, arena_printf(a, "%s to %s", l.label[i], l.label[i + 1]));
    return *why ? 0 : n;
}
