/* SPDX-License-Identifier: MIT */
/*
 * describe_spectrum.c: the eigenvalues of a symmetric matrix: Householder reflections make it
 * tridiagonal, and implicitly shifted QL steps make that diagonal.
 */
#include <math.h>
#include <stdlib.h>

#include "report/describe.h"

/* The reflection I - 2 v v' / v'v that turns the first m entries of `row` into (0, .., 0, result).
 * v replaces row; *half is v'v / 2. */
static double reflect(double *row, int64_t m, double *half)
{
    double scale = 0.0, sum = 0.0;
    for (int64_t k = 0; k < m; k++)
        scale = fmax(scale, fabs(row[k]));
    *half = 0.0;
    if (scale == 0.0)
        return 0.0;
    for (int64_t k = 0; k < m; k++)
        sum += (row[k] / scale) * (row[k] / scale);
    double last = row[m - 1], norm = scale * sqrt(sum), result = last > 0.0 ? -norm : norm;
    row[m - 1] = last - result;
    *half = norm * norm - last * result;
    return result;
}

/* A - v w' - w v', where w = A v / half - v (v'A v / half) / (2 half); A is the leading m x m part,
 * of which only the lower triangle is used. */
static void update(double *x, int64_t n, int64_t m, const double *v, double half, double *w)
{
    for (int64_t j = 0; j < m; j++)
        w[j] = 0.0;
    for (int64_t j = 0; j < m; j++) {
        const double *row = x + j * n;
        double sum = row[j] * v[j];
        for (int64_t k = 0; k < j; k++) {
            sum += row[k] * v[k];
            w[k] += row[k] * v[j];
        }
        w[j] += sum;
    }
    double vw = 0.0;
    for (int64_t j = 0; j < m; j++) {
        w[j] /= half;
        vw += v[j] * w[j];
    }
    double part = vw / (2.0 * half);
    for (int64_t j = 0; j < m; j++)
        w[j] -= part * v[j];
    for (int64_t j = 0; j < m; j++) {
        double *row = x + j * n, vj = v[j], wj = w[j];
        for (int64_t k = 0; k <= j; k++)
            row[k] -= vj * w[k] + wj * v[k];
    }
}

/* Diagonal into d, subdiagonal into e [1 .. n). */
static void tridiagonal(double *x, int64_t n, double *d, double *e)
{
    for (int64_t i = n - 1; i > 0; i--) {
        double half, *row = x + i * n;
        d[i] = row[i];
        double below = reflect(row, i, &half);
        if (half > 0.0)
            update(x, n, i, row, half, e);
        e[i] = below;
    }
    d[0] = x[0];
    e[0] = 0.0;
}

/* One QL step with Wilkinson's shift on the unreduced block first .. last; e[k] couples k - 1 and
 * k. */
static void ql_step(double *d, double *e, int64_t first, int64_t last)
{
    double g = (d[first + 1] - d[first]) / (2.0 * e[first + 1]);
    double r = hypot(g, 1.0), c = 1.0, s = 1.0, carried = 0.0;
    g = d[last] - d[first] + e[first + 1] / (g + copysign(r, g));
    for (int64_t i = last; i > first; i--) {
        double f = s * e[i], b = c * e[i];
        r = hypot(f, g);
        if (i < last)
            e[i + 1] = r;
        if (r == 0.0) {
            d[i] -= carried;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i] - carried;
        r = (d[i - 1] - g) * s + 2.0 * c * b;
        carried = s * r;
        d[i] = g + carried;
        g = c * r - b;
    }
    d[first] -= carried;
    e[first + 1] = g;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool spectrum(double *x, int64_t n, double *value, double *room)
{
    enum { STEPS_MAX = 60 };
    const double tiny = 0x1p-52;
    double *d = value, *e = room;
    for (int64_t i = 0; i < n * n; i++)
        if (!isfinite(x[i]))
            return false;
    tridiagonal(x, n, d, e);
    for (int64_t first = 0; first < n; first++) {
        for (int step = 0;; step++) {
            int64_t last = first;
            while (last + 1 < n && fabs(e[last + 1]) > tiny * (fabs(d[last]) + fabs(d[last + 1])))
                last++;
            if (last + 1 < n)
                e[last + 1] = 0.0;
            if (last == first)
                break;
            if (step == STEPS_MAX)
                return false;
            ql_step(d, e, first, last);
        }
    }
    qsort(d, (size_t)n, sizeof(*d), ascending);
    return true;
}
