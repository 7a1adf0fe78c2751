/* SPDX-License-Identifier: MIT */
/* describe.c: computes movement, energy, rank, similarity and linearity of a table of positions. */
#include "inspect/describe.h"

#include "maths/subspace.h"

const double describe_limit[DESCRIBE_LIMITS] = {0.5, 0.1, 0.01};
const int64_t describe_shift[DESCRIBE_SHIFTS] = {1, 7, 64};

/* Lists 1, 2, 4, ... below rows. Returns their number. */
static int list_distances(int64_t rows, int64_t *distance)
{
    int n = 0;
    for (int64_t k = 1; k < rows && n < DESCRIBE_DISTANCES - 1; k *= 2)
        distance[n++] = k;
    return n;
}

static double share(double part, double all)
{
    return all > 0.0 ? part / all : (double)NAN;
}

/* ---- movement and energy ---- */

static void find_movement(struct stream_description *s, const float *x)
{
    for (int64_t j = 0; j < s->columns; j++) {
        float low = x[j], high = x[j];
        for (int64_t i = 1; i < s->rows; i++) {
            low = fminf(low, x[i * s->columns + j]);
            high = fmaxf(high, x[i * s->columns + j]);
        }
        for (int k = 0; k < DESCRIBE_LIMITS; k++)
            s->moving[k] += (double)high - (double)low > describe_limit[k];
    }
}

/* sum_p |x_p|^2 = T |mean|^2 + sum_p |x_p - mean|^2: finds the mean and the first part's share. */
static void find_constant(struct stream_description *s, const float *x, double *mean)
{
    double all = 0.0, constant = 0.0;
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t j = 0; j < s->columns; j++) {
            double value = (double)x[i * s->columns + j];
            mean[j] += value / (double)s->rows;
            all += value * value;
        }
    for (int64_t j = 0; j < s->columns; j++)
        constant += mean[j] * mean[j];
    s->constant = share((double)s->rows * constant, all);
}

/* The lower triangle of the sum of c c' over the `long_side`, where c has the short side of the
 * centred table. It has the eigenvalues of the covariance, times T, without the zeros. Sums run
 * over the long side in order. */
static void fill_gram(const struct stream_description *s, const float *x, const double *mean,
                      double *gram, double *c)
{
    bool by_row = s->columns <= s->rows;
    int64_t n = by_row ? s->columns : s->rows, m = by_row ? s->rows : s->columns;
    for (int64_t k = 0; k < m; k++) {
        for (int64_t i = 0; i < n; i++) {
            int64_t row = by_row ? k : i, column = by_row ? i : k;
            c[i] = (double)x[row * s->columns + column] - mean[column];
        }
        for (int64_t i = 0; i < n; i++) {
            double *out = gram + i * n, ci = c[i];
            for (int64_t j = 0; j <= i; j++)
                out[j] += ci * c[j];
        }
    }
}

static peat_status find_rank(const struct team *team, struct stream_description *s, const float *x,
                             const double *mean, struct arena *a, struct error *err)
{
    int64_t n = s->columns < s->rows ? s->columns : s->rows;
    s->rank = -1;
    if (n > DESCRIBE_RANK_MAX)
        return PEAT_OK;
    double *value = ARENA_ARRAY(a, n, double), *room = ARENA_ARRAY(a, n, double);
    double *gram = ARENA_TRY_ARRAY(a, n * n, double);
    if (!gram)
        return error_set(err, PEAT_NOMEM, "out of memory for a matrix of %lld x %lld", (long long)n,
                         (long long)n);
    fill_gram(s, x, mean, gram, room);
    struct error why;
    peat_status status = spectrum_symmetric(team, gram, n, false, value, a, &why);
    if (status == PEAT_OK)
        s->rank = effective_rank(value, n, 0.99).components;
    return status == PEAT_NOMEM ? error_set(err, status, "%s", why.text) : PEAT_OK;
}

static double dot(const float *x, const float *y, int64_t n)
{
    double sum = 0.0;
    for (int64_t j = 0; j < n; j++)
        sum += (double)x[j] * (double)y[j];
    return sum;
}

static void find_cosines(struct stream_description *s, const float *x, double *norm)
{
    int64_t d = s->columns;
    for (int64_t i = 0; i < s->rows; i++)
        norm[i] = sqrt(dot(x + i * d, x + i * d, d));
    s->n_distance = list_distances(s->rows, s->distance);
    for (int k = 0; k < s->n_distance; k++) {
        int64_t step = s->distance[k], n = s->rows - step;
        double sum = 0.0;
        for (int64_t i = 0; i < n; i++)
            sum += dot(x + i * d, x + (i + step) * d, d) / (norm[i] * norm[i + step]);
        s->cosine[k] = sum / (double)n;
    }
}

/* ---- linearity ---- */

/* Sums over one pair of dimensions, x at p and y at p + k. */
struct pair_sums {
    double xx[3];    /* sum of x x': 00, 01, 11 */
    double yx[2][2]; /* sum of y x'             */
    double yy;
};

static struct pair_sums sum_pair(const struct stream_description *s, const float *x, int64_t a,
                                 int64_t b, int64_t step)
{
    struct pair_sums sums = {.yy = 0.0};
    for (int64_t i = 0; i + step < s->rows; i++) {
        const float *from = x + i * s->columns, *to = from + step * s->columns;
        double xa = (double)from[a], xb = (double)from[b], ya = (double)to[a], yb = (double)to[b];
        sums.xx[0] += xa * xa;
        sums.xx[1] += xa * xb;
        sums.xx[2] += xb * xb;
        sums.yx[0][0] += ya * xa;
        sums.yx[0][1] += ya * xb;
        sums.yx[1][0] += yb * xa;
        sums.yx[1][1] += yb * xb;
        sums.yy += ya * ya + yb * yb;
    }
    return sums;
}

/* M = (sum y x') (sum x x')^-1; along an axis in which x hardly varies, M is 0. */
static void solve_pair(const struct pair_sums *s, double M[2][2])
{
    const double tiny = 1e-14;
    double half = 0.5 * (s->xx[0] - s->xx[2]), mean = 0.5 * (s->xx[0] + s->xx[2]);
    double root = hypot(half, s->xx[1]), angle = 0.5 * atan2(s->xx[1], half);
    double axis[2][2] = {{cos(angle), sin(angle)}, {-sin(angle), cos(angle)}};
    double high = mean + root;
    /* mean - root, without cancellation */
    double low = high > 0.0 ? (s->xx[0] * s->xx[2] - s->xx[1] * s->xx[1]) / high : 0.0;
    double value[2] = {high, low};
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            M[r][c] = 0.0;
            for (int k = 0; k < 2 && value[k] > tiny * high; k++)
                M[r][c] +=
                    (s->yx[r][0] * axis[k][0] + s->yx[r][1] * axis[k][1]) * axis[k][c] / value[k];
        }
}

/* The sum over p of |y - M x|^2, computed directly: differences of the sums above would cancel. */
static double left_over(const struct stream_description *s, const float *x, int64_t a, int64_t b,
                        int64_t step, double M[2][2])
{
    double sum = 0.0;
    for (int64_t i = 0; i + step < s->rows; i++) {
        const float *from = x + i * s->columns, *to = from + step * s->columns;
        double xa = (double)from[a], xb = (double)from[b];
        double ra = (double)to[a] - M[0][0] * xa - M[0][1] * xb;
        double rb = (double)to[b] - M[1][0] * xa - M[1][1] * xb;
        sum += ra * ra + rb * rb;
    }
    return sum;
}

static double find_residual(const struct stream_description *s, const float *x, int64_t step,
                            bool halves)
{
    int64_t n = s->columns / 2;
    double left = 0.0, all = 0.0;
    for (int64_t i = 0; i < n; i++) {
        int64_t a = halves ? i : 2 * i, b = halves ? n + i : 2 * i + 1;
        struct pair_sums sums = sum_pair(s, x, a, b, step);
        double M[2][2];
        solve_pair(&sums, M);
        left += left_over(s, x, a, b, step, M);
        all += sums.yy;
    }
    return sqrt(share(left, all));
}

/* With fewer rows than twice the two columns of a block, least squares fits anything. */
static void find_linearity(struct stream_description *s, const float *x)
{
    enum { ROWS_MIN = 8 };
    double other[DESCRIBE_SHIFTS], sum[2] = {0.0, 0.0};
    for (int k = 0; k < DESCRIBE_SHIFTS; k++) {
        bool fits = s->columns >= 2 && describe_shift[k] + ROWS_MIN <= s->rows;
        s->residual[k] = fits ? find_residual(s, x, describe_shift[k], true) : (double)NAN;
        other[k] = fits ? find_residual(s, x, describe_shift[k], false) : (double)NAN;
        sum[0] += isnan(other[k]) ? 0.0 : other[k];
        sum[1] += isnan(s->residual[k]) ? 0.0 : s->residual[k];
    }
    s->halves = sum[1] <= sum[0];
    for (int k = 0; k < DESCRIBE_SHIFTS && !s->halves; k++)
        s->residual[k] = other[k];
}

peat_status describe_stream(const struct team *team, struct stream_description *s, const float *x,
                            int64_t rows, int64_t columns, struct arena *a, struct error *err)
{
    *s = (struct stream_description){.rows = rows, .columns = columns};
    double *mean = ARENA_ARRAY(a, columns, double), *norm = ARENA_ARRAY(a, rows, double);
    find_movement(s, x);
    find_constant(s, x, mean);
    find_cosines(s, x, norm);
    find_linearity(s, x);
    return find_rank(team, s, x, mean, a, err);
}

/* ---- bias ---- */

/* Subtracts from row i its mean over j <= i; numbers to the right of the diagonal are not read. */
static void centre_rows(const float *b, int64_t T, double *c)
{
    for (int64_t i = 0; i < T; i++) {
        double mean = 0.0;
        for (int64_t j = 0; j <= i; j++)
            mean += (double)b[i * T + j] / (double)(i + 1);
        for (int64_t j = 0; j <= i; j++)
            c[i * T + j] = (double)b[i * T + j] - mean;
    }
}

/* How far b(i, j) is f(i - j) up to a constant in each row. f is computed from differences to the
 * row's diagonal, which have no such constant: f(k) = mean over i of b(i, i - k) - b(i, i). */
static double explained_by_distance(const float *b, int64_t T, const double *c, double *f)
{
    double left = 0.0, all = 0.0;
    for (int64_t k = 0; k < T; k++) {
        f[k] = 0.0;
        for (int64_t i = k; i < T; i++)
            f[k] += ((double)b[i * T + i - k] - (double)b[i * T + i]) / (double)(T - k);
    }
    for (int64_t i = 0; i < T; i++) {
        double mean = 0.0;
        for (int64_t k = 0; k <= i; k++)
            mean += f[k] / (double)(i + 1);
        for (int64_t k = 0; k <= i; k++) {
            double value = c[i * T + i - k], rest = value - (f[k] - mean);
            left += rest * rest;
            all += value * value;
        }
    }
    double rest = share(left, all);
    return isnan(rest) ? rest : fmax(0.0, 1.0 - rest);
}

peat_status describe_bias(struct bias_description *s, const float *b, int64_t T, struct arena *a,
                          struct error *err)
{
    *s = (struct bias_description){.T = T};
    double *c = ARENA_TRY_ARRAY(a, T * T, double), *f = ARENA_ARRAY(a, T, double);
    if (!c)
        return error_set(err, PEAT_NOMEM, "out of memory for a description");
    centre_rows(b, T, c);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j <= i; j++) {
            s->low = fmin(s->low, c[i * T + j]);
            s->high = fmax(s->high, c[i * T + j]);
        }
    s->distance_only = explained_by_distance(b, T, c, f);
    s->n_distance = 1 + list_distances(T, s->distance + 1);
    for (int k = 0; k < s->n_distance; k++)
        s->centred[k] = c[(T - 1) * T + T - 1 - s->distance[k]];
    return PEAT_OK;
}
