/* SPDX-License-Identifier: MIT */
/* strata.c: the mean of a difference over strata at the same seeds, and whether it varies. */
#include "maths/strata.h"

#include "maths/statistics.h"

/* ---- pooled ---- */

int strata_means(const double *d, int n_seed, int k, const bool *in, double *mean)
{
    int n = 0;
    for (int s = 0; s < n_seed; s++) {
        double sum = 0.0;
        int strata = 0;
        for (int j = 0; j < k; j++)
            if (!in || in[j]) {
                sum += isfinite(d[s * k + j]) ? d[s * k + j] : (double)NAN;
                strata++;
            }
        mean[s] = strata ? sum / strata : (double)NAN;
        n += !isnan(mean[s]);
    }
    return n;
}

/* ---- interaction ---- */

/* Copies the complete seeds into x [n, k]; returns n. */
static int complete_seeds(const double *d, int n_seed, int k, double *x)
{
    int n = 0;
    for (int s = 0; s < n_seed; s++) {
        bool complete = true;
        for (int j = 0; j < k; j++) {
            x[n * k + j] = d[s * k + j];
            complete = complete && isfinite(d[s * k + j]);
        }
        n += complete;
    }
    return n;
}

/* Covariance of the strata over seeds, cov [k, k], and their means, level [k]. */
static void covary(const double *x, int n, int k, double *level, double *cov)
{
    for (int j = 0; j < k; j++) {
        level[j] = 0.0;
        for (int s = 0; s < n; s++)
            level[j] += x[s * k + j] / n;
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++) {
            cov[i * k + j] = 0.0;
            for (int s = 0; s < n; s++)
                cov[i * k + j] += (x[s * k + i] - level[i]) * (x[s * k + j] - level[j]) / (n - 1);
        }
}

/* Subtracts the means of rows and columns, so that differences between strata remain. */
static void centre_twice(double *cov, int k, double *row)
{
    double all = 0.0;
    for (int i = 0; i < k; i++) {
        row[i] = stats_mean(&cov[i * k], k);
        all += row[i] / k;
    }
    for (int i = 0; i < k; i++)
        for (int j = 0; j < k; j++)
            cov[i * k + j] += all - row[i] - row[j];
}

/* F = n var(levels) / (trace / (k - 1)); epsilon = trace^2 / ((k - 1) sum of squares). */
static void fill(struct interaction *out, const double *level, const double *centred, double size)
{
    int n = out->n, k = out->k;
    double trace = 0.0, squares = 0.0, sd = stats_sd(level, k);
    for (int i = 0; i < k; i++)
        trace += centred[i * k + i];
    for (int i = 0; i < k * k; i++)
        squares += centred[i] * centred[i];
    if (!(trace > 1e-26 * size * size))
        return; /* the rest is only rounding */
    out->f = n * sd * sd / (trace / (k - 1));
    out->df1 = k - 1;
    out->df2 = (k - 1.0) * (n - 1);
    out->epsilon = fmin(1.0, trace * trace / ((k - 1) * squares));
    out->p = f_tail(out->f, out->epsilon * out->df1, out->epsilon * out->df2);
}

void interaction_test(const double *d, int n_seed, int k, struct interaction *out)
{
    const double nan = (double)NAN;
    double *x = mem_array((size_t)n_seed * (size_t)k + (size_t)k, sizeof(*x), "strata");
    double *level = mem_array(2 * (size_t)k, sizeof(*level), "strata"), size = 0.0;
    double *cov = mem_array((size_t)k * (size_t)k, sizeof(*cov), "strata");
    *out = (struct interaction){complete_seeds(d, n_seed, k, x), k, nan, nan, nan, nan, nan};
    if (out->n >= 2 && k >= 2) {
        for (int i = 0; i < out->n * k; i++)
            size = fmax(size, fabs(x[i]));
        covary(x, out->n, k, level, cov);
        centre_twice(cov, k, level + k);
        fill(out, level, cov, size);
    }
    free(cov);
    free(level);
    free(x);
}
