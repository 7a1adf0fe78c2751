/* SPDX-License-Identifier: MIT */
/* spending.c: computes levels of the looks of a group sequential test. */
#include "maths/spending.h"

#include "maths/statistics.h"

const char *const spending_words[] = {"obrien-fleming", "pocock", NULL};

/* ---- spending functions ---- */

/* z with P(Z > z) = p, p <= 1/2. */
static double upper_quantile(double p)
{
    double low = 0.0, high = 40.0;
    for (int i = 0; i < 100; i++) {
        double z = 0.5 * (low + high);
        *(normal_below(-z) > p ? &low : &high) = z;
    }
    return 0.5 * (low + high);
}

double spending_until(enum spending how, double alpha, double t)
{
    if (t >= 1.0)
        return alpha;
    if (how == SPEND_POCOCK)
        return alpha * log(1.0 + (exp(1.0) - 1.0) * t);
    return 2.0 * normal_below(-upper_quantile(alpha / 2.0) / sqrt(t));
}

/* ---- the density of the score while no look has rejected ---- */

/* The score S = Z sqrt(t) is a Brownian motion. The array has its density among paths that were not
 * rejected, times Simpson's weights, at equal steps up to the boundary. */
enum { POINTS = 601 };
static const double far = 9.0; /* standard deviations below 0, beyond which the density counts as
                                * 0 */

struct density {
    double t, s[POINTS], mass[POINTS];
};

/* P(S at t > edge) among those paths; the first look starts from S = 0 at 0. */
static double above(const struct density *d, double t, double edge)
{
    double sum = 0.0, step = sqrt(t - d->t);
    if (d->t == 0.0)
        return normal_below(-edge / step);
    for (int i = 0; i < POINTS; i++)
        sum += d->mass[i] * normal_below((d->s[i] - edge) / step);
    return sum;
}

static double density_at(const struct density *d, double t, double s)
{
    const double root_2_pi = 2.5066282746310002;
    double sum = 0.0, step = sqrt(t - d->t);
    for (int i = 0; i < POINTS && d->t > 0.0; i++) {
        double z = (s - d->s[i]) / step;
        sum += d->mass[i] * exp(-0.5 * z * z);
    }
    return (d->t > 0.0 ? sum : exp(-0.5 * s * s / t)) / (step * root_2_pi);
}

static void go_on(const struct density *from, double t, double edge, struct density *to)
{
    double low = -far * sqrt(t), h = (edge - low) / (POINTS - 1);
    to->t = t;
    for (int i = 0; i < POINTS; i++) {
        double weight = i == 0 || i == POINTS - 1 ? 1.0 : i % 2 ? 4.0 : 2.0;
        to->s[i] = low + i * h;
        to->mass[i] = weight * h / 3.0 * density_at(from, t, to->s[i]);
    }
}

/* The edge that is passed at t with this probability. */
static double edge_of(const struct density *d, double t, double share)
{
    double low = -far * sqrt(t), high = 40.0 * sqrt(t);
    for (int i = 0; i < 80; i++) {
        double edge = 0.5 * (low + high);
        *(above(d, t, edge) > share ? &low : &high) = edge;
    }
    return 0.5 * (low + high);
}

void spending_levels(enum spending how, double alpha, const double *t, int n, double *level)
{
    struct density *d = mem_array(2, sizeof(*d), "looks");
    double spent = 0.0;
    d[0].t = 0.0;
    for (int k = 0; k < n; k++) {
        struct density *now = &d[k % 2], *next = &d[(k + 1) % 2];
        double until = spending_until(how, alpha, t[k]), edge = edge_of(now, t[k], until - spent);
        level[k] = normal_below(-edge / sqrt(t[k]));
        go_on(now, t[k], edge, next);
        spent = until;
    }
    free(d);
}
