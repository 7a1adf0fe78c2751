/* SPDX-License-Identifier: MIT */
/* support.c: compares profiles of variance over dimensions. */
#include "diagnose/support.h"

#include "maths/statistics.h"

/* Processes a few columns at a time, in the order of memory. Sums of equal F32 values are exact, so
 * a constant column has variance 0. */
void column_variances(const struct matrix *m, double *variance)
{
    enum { LANES = 16 };
    for (int64_t from = 0; from < m->columns; from += LANES) {
        int64_t n = m->columns - from < LANES ? m->columns - from : LANES;
        double mean[LANES] = {0}, sum[LANES] = {0};
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < n; j++)
                mean[j] += (double)m->x[i * m->columns + from + j];
        for (int64_t j = 0; j < n; j++)
            mean[j] /= (double)m->rows;
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < n; j++) {
                double off = (double)m->x[i * m->columns + from + j] - mean[j];
                sum[j] += off * off;
            }
        for (int64_t j = 0; j < n; j++)
            variance[from + j] = sum[j] / (double)m->rows;
    }
}

static double *sorted_copy(const double *x, int64_t n, struct arena *a)
{
    double *sorted = ARENA_ARRAY(a, n, double);
    memcpy(sorted, x, (size_t)n * sizeof(*x));
    sort_reals(sorted, n);
    return sorted;
}

static int64_t count_largest(const double *sorted, int64_t n, double sum)
{
    int64_t count = 0;
    double held = 0.0;
    while (count < n && held < 0.99 * sum)
        held += sorted[n - 1 - count++];
    return count;
}

/* Computes sum over all j, k of min(u_j, v_k) / d: for each value, the sum of the other profile's
 * smaller values plus itself times the number of larger ones. */
static double overlap_by_chance(const double *u, const double *v, int64_t d, double u_sum,
                                double v_sum)
{
    double total = 0.0, below = 0.0;
    int64_t k = 0;
    for (int64_t j = 0; j < d; j++) {
        double value = u[j] / u_sum;
        for (; k < d && v[k] / v_sum < value; k++)
            below += v[k] / v_sum;
        total += below + (double)(d - k) * value;
    }
    return total / (double)d;
}

static double pearson(const double *x, const double *y, int64_t n)
{
    double x_mean = stats_mean(x, n), y_mean = stats_mean(y, n);
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        yy += (y[i] - y_mean) * (y[i] - y_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : (double)NAN;
}

static void find_overlap(struct support *s, const double *token, const double *position, int64_t d)
{
    double t = s->token_variance, p = s->position_variance, profile = 0.0, plain = 0.0;
    for (int64_t j = 0; j < d; j++) {
        profile += fmin(token[j] / t, position[j] / p);
        plain += fmin(token[j], position[j]);
    }
    s->overlap = fmin(profile, 1.0);
    s->disjoint = 1.0 - s->overlap;
    s->shared = plain / fmin(t, p);
}

peat_status support_find(struct support *s, const double *token, const double *position, int64_t d,
                         struct arena *a, struct error *err)
{
    const double nan = (double)NAN;
    *s = (struct support){.overlap = nan, .disjoint = nan, .by_chance = nan, .shared = nan};
    for (int64_t j = 0; j < d; j++)
        if (!isfinite(token[j]) || !isfinite(position[j]))
            return error_set(err, PEAT_FAILED, "the variance of dimension %lld is not finite",
                             (long long)j);
    struct arena_mark mark = arena_mark(a);
    const double *t = sorted_copy(token, d, a), *p = sorted_copy(position, d, a);
    double *t_rank = ARENA_ARRAY(a, d, double), *p_rank = ARENA_ARRAY(a, d, double);
    mean_ranks(token, d, t_rank);
    mean_ranks(position, d, p_rank);
    s->token_variance = stats_sum(token, d);
    s->position_variance = stats_sum(position, d);
    s->correlation = pearson(t_rank, p_rank, d);
    s->token_dimensions = count_largest(t, d, s->token_variance);
    s->position_dimensions = count_largest(p, d, s->position_variance);
    if (s->token_variance > 0.0 && s->position_variance > 0.0) {
        find_overlap(s, token, position, d);
        s->by_chance = overlap_by_chance(t, p, d, s->token_variance, s->position_variance);
    }
    arena_rewind(a, mark);
    return PEAT_OK;
}
