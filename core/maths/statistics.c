/* SPDX-License-Identifier: MIT */
/* statistics.c: moments, and the distributions of t, F and chi squared. */
#include "maths/statistics.h"

/* ---- moments ---- */

double stats_sum(const double *x, int64_t n)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    return sum;
}

double stats_mean(const double *x, int64_t n)
{
    return n > 0 ? stats_sum(x, n) / (double)n : (double)NAN;
}

/* Two passes, because the values of a table differ only in their last digits. */
double stats_sd(const double *x, int n)
{
    if (n < 2)
        return (double)NAN;
    double mean = stats_mean(x, n), squares = 0.0;
    for (int i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return sqrt(squares / (n - 1));
}

double stats_median(double *x, int n)
{
    if (n < 1)
        return (double)NAN;
    sort_reals(x, n);
    return 0.5 * (x[(n - 1) / 2] + x[n / 2]);
}

int stats_finite(const double *x, int n, double *out)
{
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i]))
            out[kept++] = x[i];
    return kept;
}

double normal_below(double z)
{
    return 0.5 * erfc(-z / sqrt(2.0));
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

/* I_x(a, b), with y = 1 - x as a separate argument, so that neither end loses digits. */
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

/* Bisection on the ratio hi/lo, so that the error is relative: t spans many orders for few degrees
 * of freedom. */
double student_t_quantile(double p, double df)
{
    if (!(df > 0.0) || !(p >= 0.0 && p <= 1.0))
        return (double)NAN;
    if (p == 0.0 || p == 1.0)
        return p == 0.0 ? -(double)INFINITY : (double)INFINITY;
    double tail = 2.0 * fmin(p, 1.0 - p), middle = fabs(2.0 * p - 1.0);
    if (middle == 0.0)
        return 0.0;
    /* Uses the smaller of the two masses, which has more correct digits. */
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

double welch_ci_half(double sd_x, int n_x, double sd_y, int n_y)
{
    double x = sd_x * sd_x / n_x, y = sd_y * sd_y / n_y;
    if (n_x < 2 || n_y < 2)
        return (double)NAN;
    if (x + y == 0.0)
        return 0.0;
    double df = (x + y) * (x + y) / (x * x / (n_x - 1) + y * y / (n_y - 1));
    return student_t_quantile(0.975, df) * sqrt(x + y);
}

double student_t_below(double t, double df)
{
    double far = 0.5 * student_t_p(t, df);
    return t > 0.0 ? 1.0 - far : far;
}

double student_t_p(double t, double df)
{
    return isnan(t) || !(df > 0.0) ? (double)NAN : t_mass(t, df, false);
}

/* ---- F ---- */

double f_tail(double f, double a, double b)
{
    if (isnan(f) || !(a > 0.0) || !(b > 0.0))
        return (double)NAN;
    if (f <= 0.0 || isinf(f))
        return f <= 0.0 ? 1.0 : 0.0;
    return incomplete_beta(b / 2.0, a / 2.0, b / (b + a * f), a * f / (b + a * f));
}
