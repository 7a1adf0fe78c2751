/* SPDX-License-Identifier: MIT */
/* probe.c: ridge regression and linear discriminants in the eigenbasis of a covariance. */
#include "diagnose/probe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/sort.h"

/* ---- groups ---- */

/* The different numbers in x [n] with `use` (NULL: all), ascending, into out [n]; how many. */
static int64_t list_different(const int64_t *x, const bool *use, int64_t n, int64_t *out)
{
    int64_t count = 0, different = 0;
    for (int64_t i = 0; i < n; i++)
        if (use == NULL || use[i])
            out[count++] = x[i];
    sort_integers(out, count);
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || out[i] != out[i - 1])
            out[different++] = out[i];
    return different;
}

/* Its place in the list, or -1. */
static int64_t find(const int64_t *list, int64_t n, int64_t x)
{
    const int64_t *at = bsearch(&x, list, (size_t)n, sizeof(*list), compare_integers);
    return at ? at - list : -1;
}

struct lot {
    uint64_t bits;
    int64_t at;
};

static int by_bits(const void *a, const void *b)
{
    const struct lot *x = a, *y = b;
    if (x->bits != y->bits)
        return x->bits < y->bits ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

static int64_t count_held_out(int64_t groups, double share)
{
    int64_t take = (int64_t)llround(share * (double)groups);
    take = take < 1 ? 1 : take;
    return take < groups ? take : groups - 1;
}

/* Among the rows with `use` alone (NULL: all). */
static int64_t hold_out(const int64_t *group, const bool *use, int64_t n, double share,
                        uint64_t stream, bool *held_out, struct arena *a)
{
    int64_t *list = ARENA_ARRAY(a, n, int64_t);
    struct lot *lot = ARENA_ARRAY(a, n, struct lot);
    bool *chosen = ARENA_ARRAY(a, n, bool);
    memset(held_out, 0, (size_t)n * sizeof(*held_out));
    int64_t groups = list_different(group, use, n, list);
    if (groups < 2)
        return 0;
    int64_t take = count_held_out(groups, share);
    for (int64_t g = 0; g < groups; g++)
        lot[g] = (struct lot){rng_bits(stream, (uint64_t)list[g]), g};
    qsort(lot, (size_t)groups, sizeof(*lot), by_bits);
    for (int64_t k = 0; k < take; k++)
        chosen[lot[k].at] = true;
    for (int64_t i = 0; i < n; i++)
        held_out[i] = (use == NULL || use[i]) && chosen[find(list, groups, group[i])];
    return take;
}

int64_t probe_hold_out(const int64_t *group, int64_t n, double share, uint64_t stream,
                       bool *held_out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    int64_t take = hold_out(group, NULL, n, share, stream, held_out, a);
    arena_rewind(a, mark);
    return take;
}

/* ---- rows ---- */

static int64_t count(const bool *use, int64_t n)
{
    int64_t c = 0;
    for (int64_t i = 0; i < n; i++)
        c += use[i];
    return c;
}

static peat_status check_rows(const struct matrix *x, const bool *test, struct error *err)
{
    for (int64_t i = 0; i < x->rows * x->columns; i++)
        if (!isfinite(x->x[i]))
            return error_set(err, PEAT_FAILED, "activations are not finite (row %lld)",
                             (long long)(i / x->columns));
    if (count(test, x->rows) == x->rows)
        return error_set(err, PEAT_FAILED, "a probe needs rows to learn from: all %lld are tests",
                         (long long)x->rows);
    return PEAT_OK;
}

/* Columns to mean 0 and variance 1 over the rows with `train`; all rows are scaled. A constant
 * column becomes 0. */
static float *standardise(const struct matrix *x, const bool *train, struct arena *a)
{
    int64_t d = x->columns, n = count(train, x->rows);
    float *out = ARENA_ARRAY(a, x->rows * d, float);
    double *mean = ARENA_ARRAY(a, d, double), *square = ARENA_ARRAY(a, d, double);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; train[i] && j < d; j++)
            mean[j] += (double)x->x[i * d + j];
    for (int64_t j = 0; j < d; j++)
        mean[j] /= (double)n;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; train[i] && j < d; j++) {
            double off = (double)x->x[i * d + j] - mean[j];
            square[j] += off * off / (double)n;
        }
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < d; j++) {
            double scale = square[j] > 0.0 ? 1.0 / sqrt(square[j]) : 0.0;
            out[i * d + j] = (float)(((double)x->x[i * d + j] - mean[j]) * scale);
        }
    return out;
}

/* The rows with `use`, in order. */
static struct matrix take_rows(const float *x, const bool *use, int64_t n, int64_t d,
                               struct arena *a)
{
    int64_t rows = count(use, n), at = 0;
    float *out = ARENA_ARRAY(a, rows * d, float);
    for (int64_t i = 0; i < n; i++)
        if (use[i])
            memcpy(out + d * at++, x + d * i, (size_t)d * sizeof(*out));
    return (struct matrix){out, rows, d};
}

/* ---- ridge ---- */

/* Least squares in the eigenbasis of the covariance, for any ridge. */
struct ridge {
    int64_t d;
    double *vector, *value; /* [d, d] rows, [d]              */
    double *mean;           /* [d] of x                      */
    double *part;           /* [d] covariance with y along each eigenvector */
    double *weight;         /* [d] for the ridge last asked  */
    double y_mean;
};

static struct ridge ridge_new(int64_t d, struct arena *a)
{
    return (struct ridge){.d = d,
                          .vector = ARENA_ARRAY(a, d * d, double),
                          .value = ARENA_ARRAY(a, d, double),
                          .mean = ARENA_ARRAY(a, d, double),
                          .part = ARENA_ARRAY(a, d, double),
                          .weight = ARENA_ARRAY(a, d, double)};
}

/* weight serves as room for the covariance of x and y. */
static void fill_parts(struct ridge *r, const float *x, const double *y, const bool *use, int64_t n)
{
    int64_t d = r->d, rows = count(use, n);
    memset(r->weight, 0, (size_t)d * sizeof(*r->weight));
    for (int64_t i = 0; i < n; i++)
        r->y_mean += use[i] ? y[i] / (double)rows : 0.0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; use[i] && j < d; j++)
            r->weight[j] += ((double)x[i * d + j] - r->mean[j]) * (y[i] - r->y_mean) / (double)rows;
    for (int64_t k = 0; k < d; k++) {
        r->part[k] = 0.0;
        for (int64_t j = 0; j < d; j++)
            r->part[k] += r->vector[k * d + j] * r->weight[j];
    }
}

static peat_status ridge_fit(const struct team *team, struct ridge *r, const float *x,
                             const double *y, const bool *use, int64_t n, int64_t d,
                             struct arena *a, struct error *err)
{
    *r = ridge_new(d, a);
    struct arena_mark mark = arena_mark(a);
    struct matrix rows = take_rows(x, use, n, d, a);
    matrix_covariance(team, &rows, r->mean, r->vector, a);
    peat_status status = spectrum_symmetric(team, r->vector, d, true, r->value, a, err);
    if (status == PEAT_OK)
        fill_parts(r, x, y, use, n);
    arena_rewind(a, mark);
    return status;
}

static void ridge_solve(struct ridge *r, double ridge)
{
    memset(r->weight, 0, (size_t)r->d * sizeof(*r->weight));
    for (int64_t k = 0; k < r->d; k++) {
        double below = fmax(r->value[k], 0.0) + ridge;
        double along = below > 0.0 ? r->part[k] / below : 0.0;
        for (int64_t j = 0; j < r->d; j++)
            r->weight[j] += along * r->vector[k * r->d + j];
    }
}

static double ridge_read(const struct ridge *r, const float *x)
{
    double y = r->y_mean;
    for (int64_t j = 0; j < r->d; j++)
        y += ((double)x[j] - r->mean[j]) * r->weight[j];
    return y;
}

struct fit {
    double r2, error; /* mean |y - f| */
};

static struct fit ridge_score(const struct ridge *r, const float *x, const double *y,
                              const bool *use, int64_t n)
{
    double mean = 0.0, all = 0.0, left = 0.0, absolute = 0.0;
    int64_t rows = count(use, n);
    for (int64_t i = 0; i < n; i++)
        mean += use[i] ? y[i] / (double)rows : 0.0;
    for (int64_t i = 0; i < n; i++)
        if (use[i]) {
            double off = y[i] - ridge_read(r, x + i * r->d);
            left += off * off;
            absolute += fabs(off) / (double)rows;
            all += (y[i] - mean) * (y[i] - mean);
        }
    return (struct fit){.r2 = all > 0.0 ? 1.0 - left / all : (double)NAN,
                        .error = rows > 0 ? absolute : (double)NAN};
}

static double squared_error(const struct ridge *r, const float *x, const double *y, const bool *use,
                            int64_t n)
{
    double left = 0.0;
    for (int64_t i = 0; i < n; i++)
        if (use[i]) {
            double off = y[i] - ridge_read(r, x + i * r->d);
            left += off * off;
        }
    return left;
}

static double ridge_of(int k)
{
    return pow(10.0, k - 6);
}

/* The ridge that reads the held-out groups best; the larger of equals. */
static peat_status choose_ridge(const struct team *team, double *ridge, const float *x,
                                const double *y, const int64_t *group, const bool *train, int64_t n,
                                int64_t d, uint64_t stream, struct arena *a, struct error *err)
{
    bool *held_out = ARENA_ARRAY(a, n, bool), *rest = ARENA_ARRAY(a, n, bool);
    int64_t groups = hold_out(group, train, n, 0.2, stream, held_out, a);
    *ridge = ridge_of(PROBE_RIDGES / 2);
    if (groups == 0)
        return PEAT_OK;
    for (int64_t i = 0; i < n; i++)
        rest[i] = train[i] && !held_out[i];
    struct ridge r;
    peat_status status = ridge_fit(team, &r, x, y, rest, n, d, a, err);
    double least = INFINITY;
    for (int k = PROBE_RIDGES - 1; status == PEAT_OK && k >= 0; k--) {
        ridge_solve(&r, ridge_of(k));
        double error = squared_error(&r, x, y, held_out, n);
        if (error < least) {
            least = error;
            *ridge = ridge_of(k);
        }
    }
    return status;
}

static peat_status run_regression(const struct team *team, struct probe_regression *p,
                                  const struct matrix *m, const double *y, const int64_t *group,
                                  const bool *test, uint64_t stream, struct arena *a,
                                  struct error *err)
{
    int64_t n = m->rows, d = m->columns;
    bool *train = ARENA_ARRAY(a, n, bool);
    for (int64_t i = 0; i < n; i++)
        train[i] = !test[i];
    const float *x = standardise(m, train, a);
    struct ridge r;
    peat_status status = choose_ridge(team, &p->ridge, x, y, group, train, n, d, stream, a, err);
    if (status == PEAT_OK)
        status = ridge_fit(team, &r, x, y, train, n, d, a, err);
    if (status != PEAT_OK)
        return status;
    ridge_solve(&r, p->ridge);
    struct fit seen = ridge_score(&r, x, y, train, n), new = ridge_score(&r, x, y, test, n);
    p->train = count(train, n);
    p->test = n - p->train;
    p->train_r2 = seen.r2;
    p->r2 = new.r2;
    p->error = new.error;
    return PEAT_OK;
}

peat_status probe_regression(const struct team *team, struct probe_regression *p,
                             const struct matrix *x, const double *y, const int64_t *group,
                             const bool *test, uint64_t stream, struct arena *a, struct error *err)
{
    *p = (struct probe_regression){0};
    peat_status status = check_rows(x, test, err);
    for (int64_t i = 0; status == PEAT_OK && i < x->rows; i++)
        if (!isfinite(y[i]))
            status =
                error_set(err, PEAT_FAILED, "the target of row %lld is not finite", (long long)i);
    if (status != PEAT_OK)
        return status;
    struct arena_mark mark = arena_mark(a);
    status = run_regression(team, p, x, y, group, test, stream, a, err);
    arena_rewind(a, mark);
    return status;
}

/* ---- discriminants ---- */

struct discriminant {
    const struct team *team;
    int64_t d, classes;
    int64_t *label, *rows;  /* [classes], ascending; training rows of each */
    double *mean, *bias;    /* [classes, d] whitened; ln share - |mean|^2 / 2 */
    double *vector, *value; /* [d, d], [d]: of the covariance within classes  */
    double shrinkage, unit; /* unit: the mean eigenvalue                      */
};

static void discriminant_alloc(const struct team *team, struct discriminant *g,
                               const int64_t *label, const bool *train, int64_t n, int64_t d,
                               struct arena *a)
{
    *g = (struct discriminant){.team = team, .d = d};
    g->label = ARENA_ARRAY(a, n, int64_t);
    g->classes = list_different(label, train, n, g->label);
    g->rows = ARENA_ARRAY(a, g->classes, int64_t);
    g->mean = ARENA_ARRAY(a, g->classes * d, double);
    g->bias = ARENA_ARRAY(a, g->classes, double);
    g->vector = ARENA_ARRAY(a, d * d, double);
    g->value = ARENA_ARRAY(a, d, double);
}

static void find_means(struct discriminant *g, const float *x, const int64_t *label,
                       const bool *train, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (!train[i])
            continue;
        int64_t c = find(g->label, g->classes, label[i]);
        g->rows[c]++;
        for (int64_t j = 0; j < g->d; j++)
            g->mean[c * g->d + j] += (double)x[i * g->d + j];
    }
    for (int64_t c = 0; c < g->classes; c++)
        for (int64_t j = 0; j < g->d; j++)
            g->mean[c * g->d + j] /= (double)g->rows[c];
}

/* Each training row less its class's mean. */
static struct matrix take_residuals(const struct discriminant *g, const float *x,
                                    const int64_t *label, const bool *train, int64_t n,
                                    struct arena *a)
{
    struct matrix m = {.rows = count(train, n), .columns = g->d};
    float *out = ARENA_ARRAY(a, m.rows * g->d, float);
    m.x = out;
    for (int64_t i = 0; i < n; i++) {
        if (!train[i])
            continue;
        const double *mean = g->mean + find(g->label, g->classes, label[i]) * g->d;
        for (int64_t j = 0; j < g->d; j++)
            *out++ = (float)((double)x[i * g->d + j] - mean[j]);
    }
    return m;
}

/* Ledoit & Wolf 2004, for rows of mean 0: S [d, d] their covariance. The share of the identity is
 * the estimated error of S over its distance to the identity, both squared. */
static double ledoit_wolf(const struct matrix *m, const double *S)
{
    double n = (double)m->rows, trace = 0.0, squares = 0.0, fourth = 0.0;
    int64_t d = m->columns;
    for (int64_t i = 0; i < m->rows; i++) {
        double square = 0.0;
        for (int64_t j = 0; j < d; j++)
            square += (double)m->x[i * d + j] * (double)m->x[i * d + j];
        fourth += square * square;
    }
    for (int64_t i = 0; i < d; i++) {
        trace += S[i * d + i];
        for (int64_t j = 0; j < d; j++)
            squares += S[i * d + j] * S[i * d + j];
    }
    double distance = squares - trace * trace / (double)d;
    double error = fmin((fourth / n - squares) / n, distance);
    return error > 0.0 ? error / distance : 0.0;
}

static peat_status find_within(struct discriminant *g, const float *x, const int64_t *label,
                               const bool *train, int64_t n, struct arena *a, struct error *err)
{
    struct matrix m = take_residuals(g, x, label, train, n, a);
    double *mean = ARENA_ARRAY(a, g->d, double);
    matrix_covariance(g->team, &m, mean, g->vector, a);
    g->shrinkage = ledoit_wolf(&m, g->vector);
    for (int64_t j = 0; j < g->d; j++)
        g->unit += g->vector[j * g->d + j] / (double)g->d;
    return spectrum_symmetric(g->team, g->vector, g->d, true, g->value, a, err);
}

/* Along eigenvector k, in units of the shrunk deviation. A direction without any gets a floor: the
 * columns have variance 1 in all. */
static double whitening(const struct discriminant *g, int64_t k)
{
    double variance = (1.0 - g->shrinkage) * fmax(g->value[k], 0.0) + g->shrinkage * g->unit;
    return 1.0 / sqrt(fmax(variance, 1e-9));
}

/* x [n, d] V' with each column whitened, into out [n, d]. */
static void whiten(const struct discriminant *g, const double *x, int64_t n, double *out)
{
    int64_t d = g->d;
    row_products(g->team, x, n, g->vector, d, d, 1.0, out, d);
    for (int64_t k = 0; k < d; k++) {
        double scale = whitening(g, k);
        for (int64_t i = 0; i < n; i++)
            out[i * d + k] *= scale;
    }
}

static void whiten_means(struct discriminant *g, int64_t train, struct arena *a)
{
    double *white = ARENA_ARRAY(a, g->classes * g->d, double);
    whiten(g, g->mean, g->classes, white);
    g->mean = white;
    for (int64_t c = 0; c < g->classes; c++) {
        double square = 0.0;
        for (int64_t j = 0; j < g->d; j++)
            square += white[c * g->d + j] * white[c * g->d + j];
        g->bias[c] = log((double)g->rows[c] / (double)train) - 0.5 * square;
    }
}

/* The first of the largest. */
static int64_t decide(const struct discriminant *g, const double *score)
{
    int64_t best = 0;
    for (int64_t c = 1; c < g->classes; c++)
        if (score[c] + g->bias[c] > score[best] + g->bias[best])
            best = c;
    return best;
}

/* Of the test rows, in blocks. */
static void score_rows(struct probe_classes *p, const struct discriminant *g,
                       const struct matrix *x, const int64_t *label, struct arena *a)
{
    enum { BLOCK = 256 };
    int64_t d = g->d;
    double *row = ARENA_ARRAY(a, BLOCK * d, double), *white = ARENA_ARRAY(a, BLOCK * d, double);
    double *score = ARENA_ARRAY(a, BLOCK * g->classes, double);
    int64_t right = 0;
    for (int64_t begin = 0; begin < x->rows; begin += BLOCK) {
        int64_t n = x->rows - begin < BLOCK ? x->rows - begin : BLOCK;
        for (int64_t i = 0; i < n * d; i++)
            row[i] = (double)x->x[begin * d + i];
        whiten(g, row, n, white);
        row_products(g->team, white, n, g->mean, g->classes, d, 1.0, score, g->classes);
        for (int64_t i = 0; i < n; i++)
            right += g->label[decide(g, score + i * g->classes)] == label[begin + i];
    }
    p->accuracy = x->rows > 0 ? (double)right / (double)x->rows : (double)NAN;
}

static void score_chance(struct probe_classes *p, const struct discriminant *g,
                         const int64_t *label, int64_t n)
{
    int64_t most = 0, right = 0;
    for (int64_t c = 1; c < g->classes; c++)
        most = g->rows[c] > g->rows[most] ? c : most;
    for (int64_t i = 0; i < n; i++) {
        right += label[i] == g->label[most];
        p->unseen += find(g->label, g->classes, label[i]) < 0;
    }
    p->chance = n > 0 ? (double)right / (double)n : (double)NAN;
}

static peat_status run_classes(const struct team *team, struct probe_classes *p,
                               const struct matrix *m, const int64_t *label, const bool *test,
                               struct arena *a, struct error *err)
{
    int64_t n = m->rows, d = m->columns, at = 0;
    bool *train = ARENA_ARRAY(a, n, bool);
    int64_t *asked = ARENA_ARRAY(a, n, int64_t);
    for (int64_t i = 0; i < n; i++) {
        train[i] = !test[i];
        if (test[i])
            asked[at++] = label[i];
    }
    struct discriminant g;
    const float *x = standardise(m, train, a);
    discriminant_alloc(team, &g, label, train, n, d, a);
    struct matrix tests = take_rows(x, test, n, d, a);
    find_means(&g, x, label, train, n);
    peat_status status = find_within(&g, x, label, train, n, a, err);
    if (status != PEAT_OK)
        return status;
    whiten_means(&g, n - at, a);
    score_rows(p, &g, &tests, asked, a);
    score_chance(p, &g, asked, at);
    p->train = n - at;
    p->test = at;
    p->classes = g.classes;
    p->shrinkage = g.shrinkage;
    return PEAT_OK;
}

peat_status probe_classes(const struct team *team, struct probe_classes *p, const struct matrix *x,
                          const int64_t *label, const bool *test, struct arena *a,
                          struct error *err)
{
    *p = (struct probe_classes){0};
    peat_status status = check_rows(x, test, err);
    if (status != PEAT_OK)
        return status;
    struct arena_mark mark = arena_mark(a);
    status = run_classes(team, p, x, label, test, a, err);
    arena_rewind(a, mark);
    return status;
}
