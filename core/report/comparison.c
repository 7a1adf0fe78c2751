/* SPDX-License-Identifier: MIT */
/* comparison.c: means over seeds, differences to the baseline paired by seed, and the best. */
#include <math.h>
#include <string.h>

#include "maths/statistics.h"
#include "report/selector.h"

/* ---- baseline ---- */

/* The row that `row` is compared with is equal to it on every axis the selector does not name. */
static bool is_baseline_of(const struct results *r, const struct selector *s,
                           const struct result_row *row, const struct result_row *other)
{
    for (int i = 0; i < r->n_axis; i++)
        if (!selector_same(r, i, other->axis[i], s->label[i] ? s->label[i] : row->axis[i]))
            return false;
    return true;
}

static peat_status no_baseline(const struct results *r, const struct result_row *row,
                               const char *which, struct arena *a, struct error *err)
{
    return error_set(err, PEAT_INVALID, "row '%s' has %s to be compared with: name %s axes",
                     results_row_label(r, row, a), which,
                     strcmp(which, "no baseline") == 0 ? "other" : "more");
}

/* Has the labels of the selector as they stand, not through a "-". */
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
        if (&r->row[i] != row && !is_baseline_of(r, s, &r->row[i], &r->row[i]) &&
            is_baseline_of(r, s, &r->row[i], row))
            return true;
    return false;
}

/* A row that is "-" on a named axis is the same model whatever stands there: it is a baseline when
 * another row is compared with it, and otherwise compared with nothing. */
static peat_status find_baseline(struct results *r, const struct selector *s, int index,
                                 struct arena *a, struct error *err)
{
    struct result_row *row = &r->row[index];
    int n = 0;
    row->baseline = -1;
    if (is_baseline_of(r, s, row, row)) {
        if (names_it(r, s, row) || is_baseline_of_another(r, s, row))
            row->baseline = index;
        return PEAT_OK;
    }
    for (int i = 0; i < r->n_row; i++)
        if (is_baseline_of(r, s, row, &r->row[i])) {
            row->baseline = i;
            n++;
        }
    return n == 1 ? PEAT_OK : no_baseline(r, row, n ? "several baselines" : "no baseline", a, err);
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
        status = selector_from_map(r, r->baseline, "report.baseline", &s, a, err);
    for (int i = 0; status == PEAT_OK && i < r->n_row; i++)
        status = find_baseline(r, &s, i, a, err);
    if (status == PEAT_OK)
        r->baseline_text = selector_text(r, &s, a);
    return status;
}

/* ---- over seeds ---- */

static int finite_values(const struct result_row *row, int length, double *x)
{
    int n = 0;
    for (int i = 0; i < row->n_cell; i++)
        if (result_counts(row->cell[i]) && isfinite(row->cell[i]->value[length]))
            x[n++] = row->cell[i]->value[length];
    return n;
}

struct summary summary_of(const double *x, int n)
{
    const double nan = (double)NAN, mean = stats_mean(x, n), half = stats_ci_half(x, n);
    struct summary s = {.n = n, .mean = mean, .sd = stats_sd(x, n)};
    s.ci_low = mean - half;
    s.ci_high = mean + half;
    s.diff = s.diff_sd = s.diff_ci_low = s.diff_ci_high = nan;
    s.dz = s.gz = s.p = s.p_holm = s.p_t = s.p_t_holm = nan;
    return s;
}

static void summarise(const struct result_row *row, int length, double *x, struct summary *s)
{
    *s = summary_of(x, finite_values(row, length, x));
    for (int i = 0; i < row->n_cell; i++)
        s->untrained =
            s->untrained || (result_counts(row->cell[i]) && row->cell[i]->untrained[length]);
}

/* What was not recorded, by an older engine, is taken for the same. */
static bool differ(const char *a, const char *b)
{
    return a && b && strcmp(a, b) != 0;
}

bool pair_holds(const struct result_cell *a, const struct result_cell *b, struct pairs *p)
{
    bool other_init = differ(a->init, b->init);
    bool other_shapes = !a->shapes || !b->shapes || differ(a->shapes, b->shapes);
    if (a->may_stop != b->may_stop) {
        p->other_stop++;
        return false;
    }
    if (a->task != b->task) {
        p->other_task++;
        return false;
    }
    if (differ(a->batches, b->batches)) {
        p->other_batches++;
        return false;
    }
    if (other_init && !other_shapes) {
        p->other_init++;
        return false;
    }
    p->n++;
    p->by_data += other_init;
    return true;
}

double pair_difference(const struct result_cell *a, const struct result_cell *b, int length,
                       struct pairs *p)
{
    bool both = a && b && result_counts(a) && result_counts(b) && isfinite(a->value[length]) &&
                isfinite(b->value[length]);
    return both && pair_holds(a, b, p) ? a->value[length] - b->value[length] : (double)NAN;
}

struct pairs row_differences(const struct result_row *x, const struct result_row *y, int length,
                             double *d)
{
    struct pairs pairs = {0};
    for (int i = 0, n = 0; i < x->n_cell; i++) {
        const struct result_cell *a = x->cell[i], *b = row_cell(y, a->seed);
        double difference = pair_difference(a, b, length, &pairs);
        if (pairs.n > n)
            d[n++] = difference;
    }
    return pairs;
}

void rows_compare(const struct result_row *x, const struct result_row *y, int length,
                  enum paired_test test, double *d, struct summary *s)
{
    s->pairs = row_differences(x, y, length, d);
    int n = s->pairs.n;
    double half = stats_ci_half(d, n);
    s->diff = stats_mean(d, n);
    s->diff_sd = stats_sd(d, n);
    s->diff_ci_low = s->diff - half;
    s->diff_ci_high = s->diff + half;
    s->dz = effect_dz(d, n);
    s->gz = effect_gz(d, n);
    s->p = s->p_holm = paired_p(test, d, n);
    s->p_t = s->p_t_holm = paired_p(TEST_T, d, n);
}

static void adjust(struct results *r, int length, double *p)
{
    for (int i = 0; i < r->n_row; i++) {
        p[i] = r->row[i].at[length].p;
        r->comparisons[length] += !isnan(p[i]);
    }
    holm_adjust(p, r->n_row);
    for (int i = 0; i < r->n_row; i++) {
        r->row[i].at[length].p_holm = p[i];
        p[i] = r->row[i].at[length].p_t;
    }
    holm_adjust(p, r->n_row);
    for (int i = 0; i < r->n_row; i++)
        r->row[i].at[length].p_t_holm = p[i];
}

/* ---- best ---- */

static int most_seeds(const struct results *r, int task, int length)
{
    int n = 0;
    for (int i = 0; i < r->n_row; i++)
        if (r->row[i].task == task && r->row[i].at[length].n > n)
            n = r->row[i].at[length].n;
    return n;
}

const struct result_row *results_best(const struct results *r, int task, int length)
{
    const struct result_row *best = NULL;
    int least = most_seeds(r, task, length) >= 2 ? 2 : 1;
    for (int i = 0; i < r->n_row; i++) {
        const struct summary *s = &r->row[i].at[length];
        if (s->n < least || r->row[i].task != task)
            continue;
        double mean = s->mean, other = best ? best->at[length].mean : 0.0;
        if (!best || (r->goal_max ? mean > other : mean < other))
            best = &r->row[i];
    }
    return best;
}

/* By the interval of the paired differences, or Welch's where the seeds are not pairs. */
static bool is_separable(const struct result_row *row, const struct result_row *best, int length,
                         double *d)
{
    const struct summary *x = &row->at[length], *y = &best->at[length];
    struct pairs pairs = row_differences(row, best, length, d);
    if (pairs.n == 0 && pairs_refused(&pairs)) {
        double half = welch_ci_half(x->sd, x->n, y->sd, y->n);
        return !(fabs(x->mean - y->mean) <= half);
    }
    return pairs.n < 2 || fabs(stats_mean(d, pairs.n)) > stats_ci_half(d, pairs.n);
}

/* The best mean of its task, its equals, and those not separable from it. */
static void mark_best(struct results *r, int task, int length, double *d)
{
    const struct result_row *best = results_best(r, task, length);
    for (int i = 0; best && i < r->n_row; i++) {
        struct result_row *row = &r->row[i];
        bool equal = row->at[length].n > 0 && row->at[length].mean == best->at[length].mean;
        if (row->task == task)
            row->best[length] = row == best || equal || !is_separable(row, best, length, d);
    }
}

peat_status results_compare(struct results *r, const struct results_options *o, struct arena *a,
                            struct error *err)
{
    peat_status status = find_baselines(r, o, a, err);
    if (status != PEAT_OK)
        return status;
    double *x = ARENA_ARRAY(a, r->n_seed + r->n_row, double);
    for (int l = 0; l < r->n_length; l++) {
        for (int i = 0; i < r->n_row; i++)
            summarise(&r->row[i], l, x, &r->row[i].at[l]);
        for (int i = 0; i < r->n_row; i++)
            if (r->row[i].baseline >= 0 && r->row[i].baseline != i)
                rows_compare(&r->row[i], &r->row[r->row[i].baseline], l, r->test, x,
                             &r->row[i].at[l]);
        adjust(r, l, x);
        for (int task = 0; task < r->n_task; task++)
            mark_best(r, task, l, x);
    }
    return PEAT_OK;
}
