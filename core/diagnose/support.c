/* SPDX-License-Identifier: MIT */
/* support.c: profiles of variance over dimensions. */
#include "diagnose/support.h"

#include <math.h>
#include <stdlib.h>

static double sum_of(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

/* A few columns at a time, so that rows are read as they lie. A sum of F32 values that are all the
 * same is exact, and so is their mean: a constant column has variance 0. */
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

/* ---- order ---- */

struct placed {
    double value;
    int64_t index;
};

static int ascending(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void sort_values(const double *x, int64_t n, struct placed *out)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (struct placed){x[i], i};
    qsort(out, (size_t)n, sizeof(*out), ascending);
}

/* Ranks 0 .. n-1; equal values share the mean of theirs. */
static void find_ranks(const struct placed *sorted, int64_t n, double *rank)
{
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].value == sorted[i].value;)
            end++;
        for (int64_t k = i; k < end; k++)
            rank[sorted[k].index] = 0.5 * (double)(i + end - 1);
    }
}

static int64_t count_largest(const struct placed *sorted, int64_t n, double sum)
{
    int64_t count = 0;
    double held = 0.0;
    while (count < n && held < 0.99 * sum)
        held += sorted[n - 1 - count++].value;
    return count;
}

/* sum over all j, k of min(u_j, v_k) / d: each value against the other's smaller ones, by the sums
 * of those, and its larger ones, by their number. */
static double overlap_by_chance(const struct placed *u, const struct placed *v, int64_t d,
                                double u_sum, double v_sum)
{
    double total = 0.0, below = 0.0;
    int64_t k = 0;
    for (int64_t j = 0; j < d; j++) {
        double value = u[j].value / u_sum;
        for (; k < d && v[k].value / v_sum < value; k++)
            below += v[k].value / v_sum;
        total += below + (double)(d - k) * value;
    }
    return total / (double)d;
}

static double pearson(const double *x, const double *y, int64_t n)
{
    double x_mean = sum_of(x, n) / (double)n, y_mean = sum_of(y, n) / (double)n;
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (int64_t i = 0; i < n; i++) {
        xx += (x[i] - x_mean) * (x[i] - x_mean);
        yy += (y[i] - y_mean) * (y[i] - y_mean);
        xy += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : (double)NAN;
}

/* ---- support ---- */

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
    struct placed *t = ARENA_ARRAY(a, d, struct placed), *p = ARENA_ARRAY(a, d, struct placed);
    double *t_rank = ARENA_ARRAY(a, d, double), *p_rank = ARENA_ARRAY(a, d, double);
    sort_values(token, d, t);
    sort_values(position, d, p);
    find_ranks(t, d, t_rank);
    find_ranks(p, d, p_rank);
    s->token_variance = sum_of(token, d);
    s->position_variance = sum_of(position, d);
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
