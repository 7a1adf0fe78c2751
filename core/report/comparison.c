/* SPDX-License-Identifier: MIT */
/* comparison.c: means over seeds, differences to the baseline, and the best row. */

#include "report/effects.h"
#include "report/selector.h"
#include "results_parts.h"

/* ---- baseline ---- */

/* True where the row has the labels of the selector themselves, and not "-" instead of one. */
static bool names_it(const struct results *r, const struct selector *s,
                     const struct result_row *row)
{
    for (int i = 0; i < r->n_axis; i++)
        if (s->label[i] && strcmp(s->label[i], row->axis[i]) != 0)
            return false;
    return true;
}

static bool is_baseline_of_another(const struct results *r, const struct selector *s,
                                   const struct result_row *row)
{
    for (int i = 0; i < r->n_row; i++)
        if (&r->row[i] != row && !selector_leads(r, s, &r->row[i], &r->row[i]) &&
            selector_leads(r, s, &r->row[i], row))
            return true;
    return false;
}

/* A row with "-" on a named axis is the same model for all its labels. It is a baseline when
 * another row is compared with it, otherwise it has no baseline. */
static peat_status find_baseline(struct results *r, const struct selector *s, int index,
                                 struct arena *a, struct error *err)
{
    struct result_row *row = &r->row[index];
    int n = 0;
    row->baseline = -1;
    if (selector_leads(r, s, row, row)) {
        if (names_it(r, s, row) || is_baseline_of_another(r, s, row))
            row->baseline = index;
        return PEAT_OK;
    }
    for (int i = 0; i < r->n_row; i++)
        if (selector_leads(r, s, row, &r->row[i])) {
            row->baseline = i;
            n++;
        }
    if (n == 1)
        return PEAT_OK;
    return error_set(err, PEAT_INVALID, "row '%s' has %s to be compared with: name %s axes",
                     results_row_label(r, row, a), n ? "several baselines" : "no baseline",
                     n ? "more" : "other");
}

static peat_status find_baselines(struct results *r, const struct results_options *o,
                                  struct arena *a, struct error *err)
{
    struct selector s;
    peat_status status = PEAT_OK;
    if (!o->baseline && !r->baseline)
        return PEAT_OK;
    if (o->baseline)
        status = selector_parse(r, o->baseline, "--baseline", &s, a, err);
    else
        status = selector_from_map(r, r->baseline, &s, a, err);
    for (int i = 0; status == PEAT_OK && i < r->n_row; i++)
        status = find_baseline(r, &s, i, a, err);
    if (status == PEAT_OK)
        r->baseline_text = selector_text(r, &s, a);
    return status;
}

/* ---- over seeds ---- */

struct summary summary_of(const double *x, int n)
{
    double mean = stats_mean(x, n), half = stats_ci_half(x, n);
    return (struct summary){.n = n,
                            .mean = mean,
                            .sd = stats_sd(x, n),
                            .ci_low = mean - half,
                            .ci_high = mean + half,
                            .diff = difference_of(NULL, 0, TEST_T)};
}

static void summarise(const struct result_row *row, int length, double *x, struct summary *s)
{
    bool untrained = false;
    int n = 0;
    for (int i = 0; i < row->n_cell; i++) {
        const struct result_cell *c = row->cell[i];
        if (result_counts(c) && isfinite(result_value(c, length)))
            x[n++] = result_value(c, length);
        untrained = untrained || (result_counts(c) && c->at[length] && c->at[length]->untrained);
    }
    *s = summary_of(x, n);
    s->untrained = untrained;
}

static void compare_rows(struct results *r, int length, struct arena *a)
{
    struct difference **all = ARENA_ARRAY(a, r->n_row, struct difference *);
    for (int i = 0; i < r->n_row; i++) {
        struct result_row *row = &r->row[i];
        struct summary *s = &row->at[length];
        all[i] = &s->diff;
        if (row->baseline < 0 || row->baseline == i)
            continue;
        const struct effects x = effects_of_rows(r, row, &r->row[row->baseline], length, a);
        s->pairs = x.counted;
        s->diff = effects_difference(&x, a);
    }
    r->comparisons[length] = differences_adjust(all, r->n_row, a);
}

/* ---- best ---- */

const struct result_row *results_best(const struct results *r, int group, int length)
{
    const struct result_row *best = NULL;
    int least = 1;
    for (int i = 0; i < r->n_row; i++)
        if (r->row[i].group == group && r->row[i].at[length].n >= 2)
            least = 2;
    for (int i = 0; i < r->n_row; i++) {
        const struct summary *s = &r->row[i].at[length];
        if (s->n < least || r->row[i].group != group)
            continue;
        double mean = s->mean, other = best ? best->at[length].mean : 0.0;
        if (!best || (r->goal_max ? mean > other : mean < other))
            best = &r->row[i];
    }
    return best;
}

/* Whether the row is worse than the best by the interval of the paired differences, or by Welch's
 * interval where the seeds are not paired. */
static bool is_separable(const struct results *r, const struct result_row *row,
                         const struct result_row *best, int length, struct arena *a)
{
    const struct summary *x = &row->at[length], *y = &best->at[length];
    const struct effects of = effects_of_rows(r, row, best, length, a);
    int n = stats_finite(of.d, r->n_seed, of.d);
    if (n == 0 && pairs_refused(&of.counted)) {
        double half = welch_ci_half(x->sd, x->n, y->sd, y->n);
        return !(fabs(x->mean - y->mean) <= half);
    }
    return n < 2 || fabs(stats_mean(of.d, n)) > stats_ci_half(of.d, n);
}

static void mark_best(struct results *r, int group, int length, struct arena *a)
{
    const struct result_row *best = results_best(r, group, length);
    for (int i = 0; best && i < r->n_row; i++) {
        struct result_row *row = &r->row[i];
        bool equal = row->at[length].n > 0 && row->at[length].mean == best->at[length].mean;
        if (row->group == group)
            row->best[length] = row == best || equal ||
                                (best->at[length].n > 1 && !is_separable(r, row, best, length, a));
    }
}

peat_status results_compare(struct results *r, const struct results_options *o, struct arena *a,
                            struct error *err)
{
    peat_status status = find_baselines(r, o, a, err);
    if (status != PEAT_OK)
        return status;
    double *x = ARENA_ARRAY(a, r->n_seed + r->n_row, double);
    results_group(r, value_get_path(r->dir[0].plan, "report.within"), a);
    for (int l = 0; l < r->n_length; l++) {
        for (int i = 0; i < r->n_row; i++)
            summarise(&r->row[i], l, x, &r->row[i].at[l]);
        compare_rows(r, l, a);
        for (int group = 0; group < r->n_group; group++)
            mark_best(r, group, l, a);
    }
    return PEAT_OK;
}
