/* SPDX-License-Identifier: MIT */
/* probe.c: computes ridge regression and linear discriminants in the eigenbasis of a covariance. */
#include "diagnose/probe.h"

#include "diagnose/support.h"

/* ---- groups ---- */

/* Lists the different numbers in x [n], ascending, into out [n]; returns their number. */
static int64_t list_different(const int64_t *x, int64_t n, int64_t *out)
{
    int64_t different = 0;
    memcpy(out, x, (size_t)n * sizeof(*x));
    sort_integers(out, n);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || out[i] != out[i - 1])
            out[different++] = out[i];
    return different;
}

/* The index in the list, or -1. */
static int64_t find(const int64_t *list, int64_t n, int64_t x)
{
    const int64_t *at = bsearch(&x, list, (size_t)n, sizeof(*list), compare_integers);
    return at ? at - list : -1;
}

int64_t probe_hold_out(const int64_t *group, int64_t n, double share, uint64_t stream,
                       bool *held_out, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    int64_t *list = ARENA_ARRAY(a, n, int64_t), *place = ARENA_ARRAY(a, n, int64_t);
    double *lot = ARENA_ARRAY(a, n, double);
    bool *chosen = ARENA_ARRAY(a, n, bool);
    int64_t groups = list_different(group, n, list);
    double most = fmax(0.0, (double)groups - 1.0);
    int64_t take = llround(fmin(fmax(share * (double)groups, 1.0), most));
    for (int64_t g = 0; g < groups; g++)
        lot[g] = rng_uniform(stream, (uint64_t)list[g]);
    sort_places(lot, groups, place);
    for (int64_t k = 0; k < take; k++)
        chosen[place[k]] = true;
    for (int64_t i = 0; i < n; i++)
        held_out[i] = chosen[find(list, groups, group[i])];
    arena_rewind(a, mark);
    return take;
}

/* ---- rows ---- */

struct sample {
    struct matrix x;
    const double *y;      /* [rows] the numbers to predict; NULL: classes are predicted */
    const int64_t *label; /* [rows] the classes; of a regression, the groups            */
};

/* The rows whose mark is `which`, in order. */
static struct sample take_part(const struct sample *s, const bool *mark, bool which,
                               struct arena *a)
{
    int64_t d = s->x.columns, n = 0, at = 0;
    for (int64_t i = 0; i < s->x.rows; i++)
        n += mark[i] == which;
    float *x = ARENA_ARRAY(a, n * d, float);
    double *y = ARENA_ARRAY(a, n, double);
    int64_t *label = ARENA_ARRAY(a, n, int64_t);
    for (int64_t i = 0; i < s->x.rows; i++) {
        if (mark[i] != which)
            continue;
        memcpy(x + at * d, s->x.x + i * d, (size_t)d * sizeof(*x));
        y[at] = s->y ? s->y[i] : 0.0;
        label[at++] = s->label[i];
    }
    return (struct sample){{x, n, d}, y, label};
}

/* A probe learns from the rows of `train` and is scored on those of `test`. */
struct learning {
    const struct team *team;
    struct sample train, test;
    struct arena *a;
    struct error *err;
};

/* Scales columns to mean 0 and variance 1 over the training rows. A constant column becomes 0. */
static void standardise(struct learning *l)
{
    int64_t d = l->train.x.columns;
    double *mean = ARENA_ARRAY(l->a, d, double), *scale = ARENA_ARRAY(l->a, d, double);
    struct matrix *const part[] = {&l->train.x, &l->test.x};
    matrix_mean(part[0], mean);
    column_variances(part[0], scale);
    for (int64_t j = 0; j < d; j++)
        scale[j] = scale[j] > 0.0 ? 1.0 / sqrt(scale[j]) : 0.0;
    for (int p = 0; p < 2; p++) {
        float *out = ARENA_ARRAY(l->a, part[p]->rows * d, float);
        for (int64_t i = 0; i < part[p]->rows * d; i++)
            out[i] = (float)(((double)part[p]->x[i] - mean[i % d]) * scale[i % d]);
        part[p]->x = out;
    }
}

/* PEAT_FAILED: not finite, or no rows to learn from. The caller gives the memory back. */
static peat_status learning_begin(struct learning *l, const struct team *team,
                                  const struct sample *all, const bool *test, struct arena *a,
                                  struct error *err)
{
    const struct matrix *x = &all->x;
    for (int64_t i = 0; i < x->rows * x->columns; i++)
        if (!isfinite(x->x[i]))
            return error_set(err, PEAT_FAILED, "activations are not finite (row %lld)",
                             (long long)(i / x->columns));
    *l = (struct learning){team, take_part(all, test, false, a), take_part(all, test, true, a), a,
                           err};
    if (l->train.x.rows == 0)
        return error_set(err, PEAT_FAILED, "a probe needs rows to learn from: all %lld are tests",
                         (long long)x->rows);
    standardise(l);
    return PEAT_OK;
}

/* ---- ridge ---- */

/* Least squares in the eigenbasis of the covariance, for any ridge. */
struct ridge {
    int64_t d;
    double *vector, *value; /* eigenvectors [d, d] in rows, eigenvalues [d] */
    double *mean;           /* [d] means of x                */
    double *part;           /* [d] covariance with y along each eigenvector */
    double *weight;         /* [d] weights for the last ridge */
    double y_mean;
};

/* `weight` first serves as memory for the covariance of x and y. */
static void fill_parts(struct ridge *r, const struct sample *s)
{
    int64_t d = s->x.columns, n = s->x.rows;
    memset(r->weight, 0, (size_t)d * sizeof(*r->weight));
    for (int64_t i = 0; i < n; i++)
        r->y_mean += s->y[i] / (double)n;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++)
            r->weight[j] +=
                ((double)s->x.x[i * d + j] - r->mean[j]) * (s->y[i] - r->y_mean) / (double)n;
    for (int64_t k = 0; k < d; k++) {
        r->part[k] = 0.0;
        for (int64_t j = 0; j < d; j++)
            r->part[k] += r->vector[k * d + j] * r->weight[j];
    }
}

static peat_status ridge_fit(struct ridge *r, const struct learning *l, const struct sample *s)
{
    struct arena *a = l->a;
    int64_t d = s->x.columns;
    double *row = ARENA_ARRAY(a, 4 * d, double);
    *r = (struct ridge){d, ARENA_ARRAY(a, d * d, double), row, row + d, row + 2 * d, row + 3 * d};
    matrix_covariance(l->team, &s->x, r->mean, r->vector, a);
    peat_status status = spectrum_symmetric(l->team, r->vector, d, true, r->value, a, l->err);
    if (status == PEAT_OK)
        fill_parts(r, s);
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
    double left, r2, error; /* sum (y - f)^2; mean |y - f| */
};

static struct fit ridge_score(const struct ridge *r, const struct sample *s)
{
    struct fit f = {.r2 = (double)NAN, .error = (double)NAN};
    double mean = 0.0, all = 0.0, absolute = 0.0;
    int64_t n = s->x.rows;
    for (int64_t i = 0; i < n; i++)
        mean += s->y[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        double off = s->y[i] - ridge_read(r, s->x.x + i * r->d);
        f.left += off * off;
        absolute += fabs(off) / (double)n;
        all += (s->y[i] - mean) * (s->y[i] - mean);
    }
    if (all > 0.0)
        f.r2 = 1.0 - f.left / all;
    if (n > 0)
        f.error = absolute;
    return f;
}

static double ridge_of(int k)
{
    return pow(10.0, k - 6);
}

/* The ridge with the smallest error on the held-out groups; the larger of equals. */
static peat_status choose_ridge(double *ridge, const struct learning *l, uint64_t stream)
{
    const struct sample *s = &l->train;
    bool *held_out = ARENA_ARRAY(l->a, s->x.rows, bool);
    int64_t groups = probe_hold_out(s->label, s->x.rows, 0.2, stream, held_out, l->a);
    *ridge = ridge_of(PROBE_RIDGES / 2);
    if (groups == 0)
        return PEAT_OK;
    const struct sample rest = take_part(s, held_out, false, l->a);
    const struct sample asked = take_part(s, held_out, true, l->a);
    struct ridge r;
    peat_status status = ridge_fit(&r, l, &rest);
    double least = INFINITY;
    for (int k = PROBE_RIDGES - 1; status == PEAT_OK && k >= 0; k--) {
        ridge_solve(&r, ridge_of(k));
        double error = ridge_score(&r, &asked).left;
        if (error < least) {
            least = error;
            *ridge = ridge_of(k);
        }
    }
    return status;
}

static peat_status regress(struct probe_regression *p, const struct learning *l, uint64_t stream)
{
    struct ridge r;
    double ridge;
    peat_status status = choose_ridge(&ridge, l, stream);
    if (status == PEAT_OK)
        status = ridge_fit(&r, l, &l->train);
    if (status != PEAT_OK)
        return status;
    ridge_solve(&r, ridge);
    struct fit seen = ridge_score(&r, &l->train), new = ridge_score(&r, &l->test);
    *p = (struct probe_regression){l->train.x.rows, l->test.x.rows, new.r2,
                                   new.error,       seen.r2,        ridge};
    return PEAT_OK;
}

peat_status probe_regression(const struct team *team, struct probe_regression *p,
                             const struct matrix *x, const double *y, const int64_t *group,
                             const bool *test, uint64_t stream, struct arena *a, struct error *err)
{
    struct arena_mark mark = arena_mark(a);
    struct learning l;
    peat_status status = learning_begin(&l, team, &(struct sample){*x, y, group}, test, a, err);
    for (int64_t i = 0; status == PEAT_OK && i < x->rows; i++)
        if (!isfinite(y[i]))
            status =
                error_set(err, PEAT_FAILED, "the target of row %lld is not finite", (long long)i);
    if (status == PEAT_OK)
        status = regress(p, &l, stream);
    arena_rewind(a, mark);
    return status;
}

/* ---- discriminants ---- */

struct discriminant {
    const struct team *team;
    int64_t d, classes;
    int64_t *label, *rows;  /* [classes], ascending; number of training rows of each */
    double *mean, *bias;    /* [classes, d] whitened; ln share - |mean|^2 / 2 */
    double *vector, *value; /* [d, d], [d]: eigenvectors and eigenvalues of the covariance within
                             * classes */
    double shrinkage, unit; /* unit: the mean eigenvalue                      */
};

static void find_means(struct discriminant *g, const struct learning *l)
{
    const struct sample *s = &l->train;
    int64_t d = s->x.columns;
    *g = (struct discriminant){.team = l->team, .d = d};
    g->label = ARENA_ARRAY(l->a, s->x.rows, int64_t);
    g->classes = list_different(s->label, s->x.rows, g->label);
    g->rows = ARENA_ARRAY(l->a, g->classes, int64_t);
    g->mean = ARENA_ARRAY(l->a, g->classes * d, double);
    g->bias = ARENA_ARRAY(l->a, g->classes, double);
    g->vector = ARENA_ARRAY(l->a, d * d, double);
    g->value = ARENA_ARRAY(l->a, d, double);
    for (int64_t i = 0; i < s->x.rows; i++) {
        int64_t c = find(g->label, g->classes, s->label[i]);
        g->rows[c]++;
        for (int64_t j = 0; j < d; j++)
            g->mean[c * d + j] += (double)s->x.x[i * d + j];
    }
    for (int64_t c = 0; c < g->classes; c++)
        for (int64_t j = 0; j < d; j++)
            g->mean[c * d + j] /= (double)g->rows[c];
}

/* Subtracts the mean of its class from each row. */
static struct matrix take_residuals(const struct discriminant *g, const struct sample *s,
                                    struct arena *a)
{
    float *out = ARENA_ARRAY(a, s->x.rows * g->d, float), *next = out;
    for (int64_t i = 0; i < s->x.rows; i++) {
        const double *mean = g->mean + find(g->label, g->classes, s->label[i]) * g->d;
        for (int64_t j = 0; j < g->d; j++)
            *next++ = (float)((double)s->x.x[i * g->d + j] - mean[j]);
    }
    return (struct matrix){out, s->x.rows, g->d};
}

/* Ledoit & Wolf 2004, for rows of mean 0 with covariance S [d, d]. The share of the identity is the
 * estimated error of S divided by its distance to the identity, both squared. */
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

static peat_status find_within(struct discriminant *g, const struct learning *l)
{
    struct matrix m = take_residuals(g, &l->train, l->a);
    double *mean = ARENA_ARRAY(l->a, g->d, double);
    matrix_covariance(g->team, &m, mean, g->vector, l->a);
    g->shrinkage = ledoit_wolf(&m, g->vector);
    for (int64_t j = 0; j < g->d; j++)
        g->unit += g->vector[j * g->d + j] / (double)g->d;
    return spectrum_symmetric(g->team, g->vector, g->d, true, g->value, l->a, l->err);
}

/* The scale along eigenvector k: 1 / the shrunk deviation. The variance has a minimum, which is
 * small beside the columns' variance of 1. */
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

/* The index of the first largest number. */
static int64_t decide(const struct discriminant *g, const double *score)
{
    int64_t best = 0;
    for (int64_t c = 1; c < g->classes; c++)
        if (score[c] + g->bias[c] > score[best] + g->bias[best])
            best = c;
    return best;
}

static void score_rows(struct probe_classes *p, const struct discriminant *g,
                       const struct sample *s, struct arena *a)
{
    const struct matrix *x = &s->x;
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
            right += g->label[decide(g, score + i * g->classes)] == s->label[begin + i];
    }
    p->accuracy = x->rows > 0 ? (double)right / (double)x->rows : (double)NAN;
}

static void score_chance(struct probe_classes *p, const struct discriminant *g,
                         const struct sample *s)
{
    int64_t n = s->x.rows, most = 0, right = 0;
    for (int64_t c = 1; c < g->classes; c++)
        most = g->rows[c] > g->rows[most] ? c : most;
    for (int64_t i = 0; i < n; i++) {
        right += s->label[i] == g->label[most];
        p->unseen += find(g->label, g->classes, s->label[i]) < 0;
    }
    p->chance = n > 0 ? (double)right / (double)n : (double)NAN;
}

static peat_status classify(struct probe_classes *p, const struct learning *l)
{
    struct discriminant g;
    find_means(&g, l);
    peat_status status = find_within(&g, l);
    if (status != PEAT_OK)
        return status;
    whiten_means(&g, l->train.x.rows, l->a);
    *p = (struct probe_classes){l->train.x.rows, l->test.x.rows, g.classes,
                                .shrinkage = g.shrinkage};
    score_rows(p, &g, &l->test, l->a);
    score_chance(p, &g, &l->test);
    return PEAT_OK;
}

peat_status probe_classes(const struct team *team, struct probe_classes *p, const struct matrix *x,
                          const int64_t *label, const bool *test, struct arena *a,
                          struct error *err)
{
    struct arena_mark mark = arena_mark(a);
    struct learning l;
    peat_status status = learning_begin(&l, team, &(struct sample){*x, NULL, label}, test, a, err);
    if (status == PEAT_OK)
        status = classify(p, &l);
    arena_rewind(a, mark);
    return status;
}
