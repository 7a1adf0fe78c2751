/* SPDX-License-Identifier: MIT */
/* power.c: computes the power of paired tests. */
#include "maths/power.h"

#include "maths/statistics.h"

/* ---- given the sample's spread ---- */

/* The integrand over s, the sample's standard deviation divided by the true one. */
struct sample {
    const struct paired_design *d;
    double root_n, df, critical;
    double log_front; /* log of the constant of the density of s */
};

/* The chance that the mean lies in the region of rejection, for this s. */
static double rejects(const struct sample *x, double s)
{
    const struct paired_design *d = x->d;
    double reach = x->critical * s, mean = d->effect * x->root_n, edge = d->margin * x->root_n;
    if (d->equivalence)
        return normal_below(edge - mean - reach) - normal_below(reach - edge - mean);
    double chance = normal_below(fabs(mean) - reach);
    return d->tails == 2 ? chance + normal_below(-fabs(mean) - reach) : chance;
}

/* df s^2 is chi squared with df degrees of freedom. */
static double density(const struct sample *x, double s)
{
    if (s <= 0.0)
        return x->df == 1.0 ? exp(x->log_front) : 0.0;
    return exp(x->log_front + (x->df - 1.0) * log(s) - 0.5 * x->df * s * s);
}

/* ---- integrated over the sample's spread ---- */

/* Simpson's rule over all s with noticeable weight; for equivalence, over those that can reject. */
static double integrate(const struct sample *x)
{
    enum { STEPS = 20000 };
    double from = fmax(0.0, 1.0 - 9.0 / sqrt(x->df)), to = 1.0 + 9.0 / sqrt(x->df), sum = 0.0;
    if (x->d->equivalence)
        to = fmin(to, x->d->margin * x->root_n / x->critical);
    double h = (to - from) / STEPS;
    for (int i = 0; i <= STEPS && to > from; i++) {
        double s = from + i * h, weight = i == 0 || i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * density(x, s) * rejects(x, s);
    }
    return sum * h / 3.0;
}

double paired_power(const struct paired_design *d, int n)
{
    int sign;
    if (n < 2)
        return 0.0;
    double df = n - 1, tail = d->equivalence || d->tails == 1 ? d->alpha : 0.5 * d->alpha;
    struct sample x = {
        .d = d,
        .root_n = sqrt(n),
        .df = df,
        .critical = student_t_quantile(1.0 - tail, df),
        .log_front = log(2.0) + 0.5 * df * log(0.5 * df) - lgamma_r(0.5 * df, &sign),
    };
    return fmin(1.0, fmax(0.0, integrate(&x)));
}

/* Searches by bisection, because power rises with n. */
int paired_power_pairs(const struct paired_design *d, double power)
{
    int low = 1, high = 2;
    while (high < PAIRS_MAX && paired_power(d, high) < power) {
        low = high;
        high = 2 * high < PAIRS_MAX ? 2 * high : PAIRS_MAX;
    }
    if (paired_power(d, high) < power)
        return 0;
    while (high - low > 1) {
        int n = (low + high) / 2;
        *(paired_power(d, n) < power ? &low : &high) = n;
    }
    return high;
}
