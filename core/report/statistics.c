/* SPDX-License-Identifier: MIT */
/* statistics.c: means, Student's t, the sign-flip test, Holm's adjustment. */
#include "report/statistics.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/rng.h"

/* ---- moments ---- */

double stats_mean(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / n : (double)NAN;
}

/* Two passes: values of a table differ in their last digits. */
double stats_sd(const double *x, int n)
{
    if (n < 2)
        return (double)NAN;
    double mean = stats_mean(x, n), squares = 0.0;
    for (int i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (n - 1));
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_median(double *x, int n)
{
    if (n < 1)
        return (double)NAN;
    qsort(x, (size_t)n, sizeof(*x), compare_doubles);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

/* ---- Student's t ---- */

static double away_from_zero(double x)
{
    const double tiny = 1e-300;
    return fabs(x) < tiny ? tiny : x;
}

/* The continued fraction of the incomplete beta function (NIST DLMF 8.17.22) by Lentz's method:
 * 1/(1 + d1/(1 + d2/(1 + ...))). */
static double beta_fraction(double a, double b, double x)
{
    enum { TERMS = 10000 };
    double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), value = d;
    for (int m = 1; m < TERMS; m++) {
        double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        value *= c * d;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        value *= c * d;
        if (fabs(c * d - 1.0) < 1e-16)
            break;
    }
    return value;
}

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
}

/* I_x(a, b) with y = 1 - x given apart, so that neither end loses digits. */
static double incomplete_beta(double a, double b, double x, double y)
{
    if (x <= 0.0 || y <= 0.0)
        return x <= 0.0 ? 0.0 : 1.0;
    double front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
    if (x < (a + 1.0) / (a + b + 2.0))
        return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, y) / b;
}

/* P(|T| > t), and P(|T| <= t) when `inside`. */
static double t_mass(double t, double df, bool inside)
{
    double square = t * t, x = df / (df + square), y = square / (df + square);
    if (isinf(square)) {
        x = 0.0;
        y = 1.0;
    }
    return inside ? incomplete_beta(0.5, df / 2.0, y, x) : incomplete_beta(df / 2.0, 0.5, x, y);
}

/* Bisection on the ratio hi/lo: the error is relative, and t spans many orders for few degrees of
 * freedom. */
double student_t_quantile(double p, double df)
{
    if (!(df > 0.0) || !(p >= 0.0 && p <= 1.0))
        return (double)NAN;
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? -(double)INFINITY : (double)INFINITY;
    double tail = 2.0 * fmin(p, 1.0 - p), middle = fabs(2.0 * p - 1.0);
    if (middle == 0.0)
        return 0.0;
    /* Whichever mass is smaller is known to more digits. */
    bool inside = middle < tail;
    double target = inside ? middle : tail, lo = 1e-300, hi = 1e300;
    for (int i = 0; i < 200 && hi / lo > 1.0 + 1e-15; i++) {
        double t = hi / lo > 4.0 ? sqrt(lo) * sqrt(hi) : 0.5 * (lo + hi);
        bool below = inside ? t_mass(t, df, true) < target : t_mass(t, df, false) > target;
        *(below ? &lo : &hi) = t;
    }
    double t = 0.5 * (lo + hi);
    return p < 0.5 ? -t : t;
}

double stats_ci_half(const double *x, int n)
{
    if (n < 2)
        return (double)NAN;
    return student_t_quantile(0.975, n - 1) * stats_sd(x, n) / sqrt(n);
}

/* ---- sign-flip test ---- */

enum { EXACT_MAX = 20, HALF_MAX = EXACT_MAX / 2, DRAWS = 100000 };

/* All 2^n sums of d with signs; returns how many. */
static int signed_sums(const double *d, int n, double *sum)
{
    int count = 1;
    sum[0] = 0.0;
    for (int i = 0; i < n; i++, count *= 2)
        for (int j = 0; j < count; j++) {
            sum[count + j] = sum[j] - d[i];
            sum[j] += d[i];
        }
    return count;
}

/* Two halves: every sum is made of at most n additions, so that ties stay ties. */
static double exact_p(const double *d, int n, double limit)
{
    double left[1 << HALF_MAX], right[1 << HALF_MAX];
    int n_left = signed_sums(d, n / 2, left), n_right = signed_sums(d + n / 2, n - n / 2, right);
    int64_t as_large = 0;
    for (int i = 0; i < n_left; i++)
        for (int j = 0; j < n_right; j++)
            as_large += fabs(left[i] + right[j]) >= limit;
    return (double)as_large / ((double)n_left * n_right);
}

static double drawn_p(const double *d, int n, double limit)
{
    uint64_t stream = rng_stream(0, "signflip", "");
    int64_t as_large = 0;
    for (int draw = 0; draw < DRAWS; draw++) {
        uint64_t row = rng_substream(stream, (uint64_t)draw), bits = 0;
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
            if (i % 64 == 0)
                bits = rng_bits(row, (uint64_t)i / 64);
            sum += bits >> (i % 64) & 1 ? d[i] : -d[i];
        }
        as_large += fabs(sum) >= limit;
    }
    return (1.0 + (double)as_large) / (1.0 + DRAWS);
}

/* p = share of sign patterns s with |sum s_i d_i| >= |sum d_i|; sums that differ by rounding count
 * as equal. */
double signflip_p(const double *d, int n)
{
    if (n < 1)
        return (double)NAN;
    double sum = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        sum += d[i];
        size += fabs(d[i]);
    }
    double limit = fabs(sum) - 1e-12 * size;
    return n <= EXACT_MAX ? exact_p(d, n, limit) : drawn_p(d, n, limit);
}

/* ---- Holm ---- */

struct placed {
    double p;
    int place;
};

static int compare_placed(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : x->place - y->place;
}

/* Holm 1979: the j-th smallest of m becomes max over i <= j of min(1, (m - i + 1) p_(i)). */
void holm_adjust(double *p, int n)
{
    if (n < 1)
        return;
    struct placed *sorted = malloc((size_t)n * sizeof(*sorted));
    if (!sorted)
        BUG("out of memory for %d p values", n);
    int m = 0;
    for (int i = 0; i < n; i++)
        if (!isnan(p[i]))
            sorted[m++] = (struct placed){p[i], i};
    qsort(sorted, (size_t)m, sizeof(*sorted), compare_placed);
    double so_far = 0.0;
    for (int j = 0; j < m; j++) {
        so_far = fmax(so_far, fmin(1.0, (m - j) * sorted[j].p));
        p[sorted[j].place] = so_far;
    }
    free(sorted);
}
