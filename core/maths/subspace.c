/* SPDX-License-Identifier: MIT */
/* subspace.c: computes effective ranks and principal angles. */
#include "maths/subspace.h"

#include "tensor/gemm.h"

static const double degrees = 180.0 / M_PI;

/* ---- rank ---- */

struct effective_rank effective_rank(const double *value, int64_t n, double share)
{
    struct effective_rank r = {0};
    double sum = 0.0, held = 0.0, entropy = 0.0;
    for (int64_t i = 0; i < n; i++)
        sum += fmax(value[i], 0.0);
    if (sum <= 0.0)
        return r;
    while (r.components < n && held < share * sum)
        held += fmax(value[n - 1 - r.components++], 0.0);
    for (int64_t i = 0; i < n; i++) {
        double p = fmax(value[i], 0.0) / sum;
        entropy -= p > 0.0 ? p * log(p) : 0.0;
    }
    r.entropy = exp(entropy);
    return r;
}

/* ---- subspace ---- */

/* Copies the last k rows of `vector` [d, d], in descending order of their values. */
static void take_basis(struct subspace *s, const double *vector)
{
    for (int64_t i = 0; i < s->k; i++)
        memcpy(s->basis + i * s->d, vector + (s->d - 1 - i) * s->d, (size_t)s->d * sizeof(*vector));
}

static peat_status fill_subspace(const struct team *team, struct subspace *s,
                                 const struct matrix *m, double share, double *vector, double *mean,
                                 struct arena *a, struct error *err)
{
    matrix_covariance(team, m, mean, vector, a);
    peat_status status = spectrum_symmetric(team, vector, s->d, true, s->value, a, err);
    if (status != PEAT_OK)
        return status;
    double constant = 0.0;
    for (int64_t j = 0; j < s->d; j++) {
        s->variance += fmax(s->value[j], 0.0);
        constant += mean[j] * mean[j];
    }
    s->constant = constant + s->variance > 0.0 ? constant / (constant + s->variance) : (double)NAN;
    s->rank = effective_rank(s->value, s->d, share);
    s->k = s->rank.components;
    take_basis(s, vector);
    return PEAT_OK;
}

peat_status subspace_find(const struct team *team, struct subspace *s, const struct matrix *m,
                          double share, struct arena *a, struct error *err)
{
    int64_t d = m->columns, most = m->rows < d ? m->rows : d;
    *s = (struct subspace){.d = d};
    s->value = ARENA_ARRAY(a, d, double);
    s->basis = ARENA_ARRAY(a, most * d, double);
    struct arena_mark mark = arena_mark(a);
    double *vector = ARENA_ARRAY(a, d * d, double), *mean = ARENA_ARRAY(a, d, double);
    peat_status status = fill_subspace(team, s, m, share, vector, mean, a, err);
    arena_rewind(a, mark);
    return status;
}

/* ---- angles ---- */

static struct angle_summary summarise(const double *angle, int64_t n)
{
    const double nan = (double)NAN;
    if (n == 0)
        return (struct angle_summary){0, nan, nan, nan, nan};
    struct angle_summary s = {.n = n, .smallest = angle[0], .largest = angle[n - 1]};
    for (int64_t i = 0; i < n; i++) {
        double c = cos(angle[i] / degrees);
        s.mean += angle[i] / (double)n;
        s.overlap += c * c / (double)n;
    }
    return s;
}

/* cosine [n] descending; sine [n] descending. */
static void find_angles(const double *cosine, const double *sine, int64_t n, double *angle)
{
    for (int64_t i = 0; i < n; i++) {
        double c = fmin(cosine[i], 1.0), s = fmin(sine[n - 1 - i], 1.0);
        angle[i] = degrees * (c * c >= 0.5 ? asin(s) : acos(c));
    }
}

/* rest [n, d] -= cross [n, k] times the basis. */
static void take_away(const struct team *team, const double *cross, const struct subspace *s,
                      int64_t n, double *rest)
{
    struct gemm p = {.dtype = PEAT_F64, .m = n, .n = s->d, .k = s->k, .alpha = -1.0, .beta = 1.0};
    p.a = cross;
    p.b = s->basis;
    p.c = rest;
    p.lda = s->k;
    p.ldb = p.ldc = s->d;
    gemm_one(team, &p);
}

/* `large` has at least as many dimensions as `small`. cross = small large' and rest = small - cross
 * large: their singular values are the cosines and the sines. */
static bool measure(const struct team *team, const struct subspace *large,
                    const struct subspace *small, double *angle, struct arena *a, struct error *err)
{
    int64_t n = small->k, d = small->d;
    double *cross = ARENA_ARRAY(a, n * large->k, double), *rest = ARENA_ARRAY(a, n * d, double);
    double *cosine = ARENA_ARRAY(a, n, double), *sine = ARENA_ARRAY(a, n, double);
    row_products(team, small->basis, n, large->basis, large->k, d, 1.0, cross, large->k);
    memcpy(rest, small->basis, (size_t)(n * d) * sizeof(*rest));
    take_away(team, cross, large, n, rest);
    bool ok = spectrum_singular(team, cross, n, large->k, cosine, a, err) == PEAT_OK &&
              spectrum_singular(team, rest, n, d, sine, a, err) == PEAT_OK;
    if (ok)
        find_angles(cosine, sine, n, angle);
    return ok;
}

peat_status principal_angles(const struct team *team, const struct subspace *x,
                             const struct subspace *y, double *angle, struct angle_summary *s,
                             struct arena *a, struct error *err)
{
    BUG_UNLESS(x->d == y->d);
    const struct subspace *large = x->k >= y->k ? x : y, *small = large == x ? y : x;
    struct arena_mark mark = arena_mark(a);
    double *room = angle != NULL ? angle : ARENA_ARRAY(a, small->k, double);
    bool ok = measure(team, large, small, room, a, err);
    if (ok)
        *s = summarise(room, small->k);
    arena_rewind(a, mark);
    return ok ? PEAT_OK : PEAT_FAILED;
}

/* ---- chance ---- */

static double quantile(const double *sorted, int64_t n, double p)
{
    double at = p * (double)(n - 1);
    int64_t below = (int64_t)at, above = below + 1 < n ? below + 1 : below;
    return sorted[below] + (at - (double)below) * (sorted[above] - sorted[below]);
}

struct quantiles quantiles_of(double *x, int64_t n)
{
    if (n == 0)
        return (struct quantiles){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
    struct quantiles s = {.mean = 0.0};
    for (int64_t i = 0; i < n; i++)
        s.mean += x[i] / (double)n;
    sort_reals(x, n);
    s.q05 = quantile(x, n, 0.05);
    s.q50 = quantile(x, n, 0.5);
    s.q95 = quantile(x, n, 0.95);
    return s;
}

/* Only the relative position of the subspaces matters, so one of them may be the first `large`
 * axes: the cosines are then the singular values of the other's basis, cut to these columns. */
static bool draw_angles(const struct team *team, int64_t large, int64_t small, int64_t d,
                        uint64_t stream, double *basis, double *angle, struct arena *a,
                        struct error *err)
{
    for (int64_t i = 0; i < small * d; i++)
        basis[i] = rng_normal(stream, (uint64_t)i);
    if (spectrum_orthonormal(team, basis, small, d, a, err) != PEAT_OK)
        return false;
    for (int64_t i = 1; i < small; i++)
        memmove(basis + i * large, basis + i * d, (size_t)large * sizeof(*basis));
    bool ok = spectrum_singular(team, basis, small, large, angle, a, err) == PEAT_OK;
    for (int64_t i = 0; ok && i < small; i++)
        angle[i] = degrees * acos(fmin(angle[i], 1.0));
    return ok;
}

static bool draw_all(const struct team *team, int64_t large, int64_t small,
                     struct angle_baseline *b, int64_t d, uint64_t stream, double *seen[4],
                     struct arena *a, struct error *err)
{
    double *basis = ARENA_ARRAY(a, small * d, double), *angle = ARENA_ARRAY(a, small, double);
    for (int64_t t = 0; t < b->draws; t++) {
        uint64_t draw = rng_substream(stream, (uint64_t)t);
        if (!draw_angles(team, large, small, d, draw, basis, angle, a, err))
            return false;
        struct angle_summary s = summarise(angle, small);
        seen[0][t] = s.smallest;
        seen[1][t] = s.mean;
        seen[2][t] = s.largest;
        seen[3][t] = s.overlap;
    }
    return true;
}

peat_status angles_random(const struct team *team, int64_t k_a, int64_t k_b, int64_t d,
                          int64_t draws, uint64_t stream, struct angle_baseline *b, struct arena *a,
                          struct error *err)
{
    int64_t large = k_a > k_b ? k_a : k_b, small = k_a > k_b ? k_b : k_a;
    BUG_UNLESS(small >= 1 && large <= d && draws >= 1);
    struct arena_mark mark = arena_mark(a);
    double *seen[4];
    for (int i = 0; i < 4; i++)
        seen[i] = ARENA_ARRAY(a, draws, double);
    *b = (struct angle_baseline){.draws = draws};
    bool ok = draw_all(team, large, small, b, d, stream, seen, a, err);
    if (ok) {
        b->smallest = quantiles_of(seen[0], draws);
        b->mean = quantiles_of(seen[1], draws);
        b->largest = quantiles_of(seen[2], draws);
        b->overlap = quantiles_of(seen[3], draws);
    }
    arena_rewind(a, mark);
    return ok ? PEAT_OK : PEAT_FAILED;
}
