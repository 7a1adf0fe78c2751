/* SPDX-License-Identifier: MIT */
/* crossed.c: estimates crossed random effects of seeds and stretches; formulas: crossed.h. */
#include "maths/crossed.h"

#include "maths/statistics.h"

struct table {
    const double *d, *weight;
    int S, J;            /* J: columns of d      */
    double total;        /* sum of the weights */
    double *seed, *text; /* means: A [S], B [J] */
    double mean;
};

static double share(const struct table *t, int j)
{
    return t->weight[j] / t->total;
}

static void fill_means(struct table *t)
{
    for (int s = 0; s < t->S; s++)
        for (int j = 0; j < t->J; j++) {
            double x = t->d[s * t->J + j];
            t->seed[s] += share(t, j) > 0.0 ? share(t, j) * x : 0.0;
            t->text[j] += x / t->S;
        }
    t->mean = stats_mean(t->seed, t->S);
}

/* Computes the three sums of squares of the header, divided; `used` stretches have a weight. */
static void fill_variances(const struct table *t, int used, double *a, double *b, double *e)
{
    const double S = t->S, factor = (double)used / (used - 1);
    *a = *b = *e = 0.0;
    for (int s = 0; s < t->S; s++)
        *a += (t->seed[s] - t->mean) * (t->seed[s] - t->mean) / (S * (S - 1));
    for (int j = 0; j < t->J; j++) {
        double w = share(t, j), of_text = t->text[j] - t->mean;
        if (w <= 0.0)
            continue;
        *b += factor * w * w * of_text * of_text;
        for (int s = 0; s < t->S; s++) {
            double r = t->d[s * t->J + j] - t->seed[s] - of_text;
            *e += factor * w * w * r * r / (S * (S - 1));
        }
    }
}

struct crossed crossed_mean(const double *d, int n_seed, int n_stretch, const double *weight)
{
    struct crossed c = {.mean = (double)NAN, .variance = (double)NAN, .df = (double)NAN};
    struct table t = {.d = d, .weight = weight, .S = n_seed, .J = n_stretch};
    double a, b, e;
    int used = 0;
    for (int j = 0; j < n_stretch; j++) {
        used += weight[j] > 0.0;
        t.total += weight[j] > 0.0 ? weight[j] : 0.0;
    }
    if (n_seed < 1 || used < 1)
        return c;
    t.seed = mem_array((size_t)n_seed, sizeof(*t.seed), "means of seeds");
    t.text = mem_array((size_t)n_stretch, sizeof(*t.text), "means of stretches");
    fill_means(&t);
    c.mean = t.mean;
    if (n_seed > 1 && used > 1) {
        fill_variances(&t, used, &a, &b, &e);
        double all = a + b - e, of_seeds = n_seed - 1, of_text = used - 1;
        c.variance = fmax(all, fmax(a, b));
        c.df = c.variance == all && all > 0.0
                   ? all * all / (a * a / of_seeds + b * b / of_text + e * e / (of_seeds * of_text))
               : a >= b ? of_seeds
                        : of_text;
    }
    free(t.seed);
    free(t.text);
    return c;
}

double crossed_half(const struct crossed *c, double level)
{
    return c->variance >= 0.0 ? student_t_quantile(0.5 + level / 2, c->df) * sqrt(c->variance)
                              : (double)NAN;
}
