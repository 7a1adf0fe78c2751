/* SPDX-License-Identifier: MIT */
/* rank_tests.c: ranks, Friedman's test over tasks, and Nemenyi's critical difference. */

#include "maths/statistics.h"

/* ---- ranks ---- */

void mean_ranks(const double *x, int64_t n, double *rank)
{
    int64_t *place = mem_array((size_t)n, sizeof(*place), "statistics");
    sort_places(x, n, place);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && x[place[end]] == x[place[i]];)
            end++;
        for (int64_t j = i; j < end; j++)
            rank[place[j]] = 0.5 * (double)(i + 1 + end);
    }
    free(place);
}

/* ---- Nemenyi ---- */

/* P(range of k standard normals <= q): k times the integral of phi(z) [Phi(z) - Phi(z - q)]^(k-1)
 * over the position of the largest, by Simpson's rule. */
static double range_below(double q, int k)
{
    enum { STEPS = 2000 };
    const double from = -9.0, to = 9.0, h = (to - from) / STEPS;
    double sum = 0.0;
    for (int i = 0; i <= STEPS; i++) {
        double z = from + i * h, weight = i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * exp(-0.5 * z * z) * pow(normal_below(z) - normal_below(z - q), k - 1);
    }
    return k * sum * h / 3.0 / sqrt(2.0 * acos(-1.0));
}

double nemenyi_q(int k)
{
    double low = 0.0, high = 40.0;
    if (k < 2)
        return (double)NAN;
    for (int i = 0; i < 60; i++) {
        double q = 0.5 * (low + high);
        *(range_below(q, k) < 0.95 ? &low : &high) = q;
    }
    return low / sqrt(2.0);
}

/* ---- Friedman ---- */

/* Sum over tasks and groups of t equal ranks of t^3 - t. */
static double tied(const double *rank, int k, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++) {
            double same = 0.0;
            for (int l = 0; l < k; l++)
                same += rank[i * k + l] == rank[i * k + j];
            sum += same * same - 1.0;
        }
    return sum;
}

void friedman_test(const double *rank, int k, int n, struct friedman *out)
{
    double squares = 0.0, all = k * (k + 1.0);
    for (int j = 0; j < k; j++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++)
            sum += rank[i * k + j];
        squares += sum * sum;
    }
    double free_of_ties = 1.0 - tied(rank, k, n) / (n * k * (k * (double)k - 1.0));
    double chi2 = free_of_ties > 1e-12
                      ? (12.0 / (n * all) * squares - 3.0 * n * (k + 1.0)) / free_of_ties
                      : (double)NAN;
    double rest = n * (k - 1.0) - chi2;
    double f = rest > 1e-9 ? (n - 1.0) * chi2 / rest : isnan(rest) ? chi2 : (double)INFINITY;
    *out = (struct friedman){
        .k = k,
        .n = n,
        .chi2 = chi2,
        .p_chi2 = chi2_tail(chi2, k - 1.0),
        .f = f,
        .p = f_tail(f, k - 1.0, (k - 1.0) * (n - 1.0)),
        .critical = nemenyi_q(k) * sqrt(all / (6.0 * n)),
    };
}
