/* SPDX-License-Identifier: MIT */
/* spaces.c: how tokens and positions lie where they meet: their sizes, the cosine between them, and
 * the subspaces that they span. */
#include "maths/subspace.h"
#include "rounded.h"
#include "tables.h"

/* ---- sizes ---- */

/* Over all pairs of a token's and a position's vector; rows of length 0 have no direction. */
struct cosines {
    double mean, size; /* means of cos and of |cos|; NaN: no pair */
};

/* Scales rows to length 1 and leaves out those of length 0; returns the number of rows. */
static int64_t unit_rows(const struct matrix *m, double *out)
{
    int64_t d = m->columns, n = 0;
    for (int64_t i = 0; i < m->rows; i++) {
        const float *x = m->x + i * d;
        double square = 0.0;
        for (int64_t j = 0; j < d; j++)
            square += (double)x[j] * (double)x[j];
        if (!(square > 0.0))
            continue;
        for (int64_t j = 0; j < d; j++)
            out[n * d + j] = (double)x[j] / sqrt(square);
        n++;
    }
    return n;
}

static struct cosines find_cosines(const struct tables *t, struct arena *a)
{
    struct arena_mark mark = arena_mark(a);
    int64_t d = t->token.columns;
    double *token = ARENA_ARRAY(a, t->token.rows * d, double);
    double *position = ARENA_ARRAY(a, t->position.rows * d, double);
    int64_t tokens = unit_rows(&t->token, token), positions = unit_rows(&t->position, position);
    double pairs = (double)tokens * (double)positions, sum = 0.0, size = 0.0;
    for (int64_t v = 0; v < tokens; v++)
        for (int64_t p = 0; p < positions; p++) {
            double cosine = 0.0;
            for (int64_t j = 0; j < d; j++)
                cosine += token[v * d + j] * position[p * d + j];
            sum += cosine;
            size += fabs(cosine);
        }
    arena_rewind(a, mark);
    return (struct cosines){ratio(sum, pairs), ratio(size, pairs)};
}

/* The mean |cos| of independent directions, uniform in d dimensions:
 * gamma(d / 2) / (sqrt(pi) gamma((d + 1) / 2)). */
static double size_by_chance(int64_t d)
{
    int sign;
    double half = 0.5 * (double)d;
    return exp(lgamma_r(half, &sign) - lgamma_r(half + 0.5, &sign)) / sqrt(acos(-1.0));
}

static struct cosines put_sizes(const struct tables *t, struct arena *a, struct json v)
{
    struct cosines none = {(double)NAN, (double)NAN}, c = t->missing ? none : find_cosines(t, a);
    put_rounded(v, "token", t->token_size);
    put_rounded(v, "position", t->position_size);
    put_rounded(v, "ratio", ratio(t->token_size, t->position_size));
    put_rounded(v, "cosine", c.mean);
    put_rounded(v, "cosine_size", c.size);
    return c;
}

static void summarise_sizes(const struct tables *now, const struct tables *start, struct cosines c,
                            double chance, struct json v)
{
    double first = start ? ratio(start->token_size, start->position_size) : (double)NAN;
    double last = ratio(now->token_size, now->position_size);
    const char *before =
        isnan(first) ? "" : arena_printf(v.a, " (%.3g times before training)", first);
    const char *between =
        isnan(c.mean) ? ""
                      : arena_printf(v.a,
                                     "; the cosine between the two is %+.3f in the mean, its size "
                                     "%.3f (%.3f by chance)",
                                     c.mean, c.size, chance);
    put_summary(v, "tokens are %.3g times as large as positions where they meet%s%s", last, before,
                between);
}

void diagnose_sizes(struct subject *s, struct json v)
{
    const struct tables *t = tables_find(s);
    if (!t)
        return;
    if (t->input_missing) {
        json_put_text(v, "skipped", t->input_missing);
        return;
    }
    double chance = size_by_chance(t->token.columns);
    struct cosines c = put_sizes(t, &s->work, v);
    put_rounded(v, "chance", chance);
    if (s->start)
        put_sizes(s->start, &s->work, json_put_map(v, "start"));
    summarise_sizes(t, s->start, c, chance, v);
    json_put_text(v, "left_out", t->missing);
}

/* ---- subspaces ---- */

static const double ENERGY = 0.99;

static void put_space(struct json map, const char *key, const struct matrix *m,
                      const struct subspace *s)
{
    struct json v = json_put_map(map, key);
    json_put_int(v, "rows", m->rows);
    json_put_int(v, "rank", s->rank.components);
    put_rounded(v, "effective", s->rank.entropy);
    put_rounded(v, "constant", s->constant);
}

static void put_random(struct json map, const struct angle_baseline *b)
{
    struct json v = json_put_map(map, "random");
    put_rounded(v, "mean", b->mean.mean);
    put_rounded(v, "low", b->mean.q05);
    put_rounded(v, "high", b->mean.q95);
    put_rounded(v, "smallest", b->smallest.mean);
    put_rounded(v, "overlap", b->overlap.mean);
}

struct angles {
    struct angle_summary found;
    struct angle_baseline random; /* when found.n is not 0 */
};

static bool put_angles(struct subject *s, const struct subspace *x, const struct subspace *y,
                       struct json v, struct angles *out)
{
    enum { DRAWS = 50 };
    struct arena *a = &s->arena;
    double *angle = ARENA_ARRAY(a, x->d, double);
    if (principal_angles(s->team, x, y, angle, &out->found, a, &s->err) != PEAT_OK ||
        (out->found.n > 0 &&
         angles_random(s->team, x->k, y->k, x->d, DRAWS, rng_substream(s->stream, 1), &out->random,
                       a, &s->err) != PEAT_OK))
        return false;
    put_rounded_row(v, "angles", angle, out->found.n);
    put_rounded(v, "mean", out->found.mean);
    put_rounded(v, "smallest", out->found.smallest);
    put_rounded(v, "overlap", out->found.overlap);
    if (out->found.n > 0)
        put_random(v, &out->random);
    return true;
}

static void summarise_spaces(const struct subspace *x, const struct subspace *y,
                             const struct angles *g, struct json v)
{
    const double rounding = 1e-5; /* degrees; smaller angles are rounding */
    double mean = g->found.mean;
    const struct quantiles *base = &g->random.mean;
    if (g->found.n == 0) {
        put_summary(v, "one of the two does not vary, so there are no angles");
        return;
    }
    const char *word = mean > base->q95 + rounding   ? "more apart than"
                       : mean < base->q05 - rounding ? "nearer to each other than"
                                                     : "as far apart as";
    put_summary(v,
                "tokens span %lld and positions %lld of %lld dimensions, at %.1f degrees in the "
                "mean: %s random subspaces (%.1f)",
                (long long)x->k, (long long)y->k, (long long)x->d, mean, word, base->mean);
}

/* Tables of one time: now, or before training. */
static void put_spaces(struct subject *s, const struct tables *t, bool now, struct json v)
{
    const struct matrix *of[] = {&t->token, &t->position, &t->input};
    static const char *const key[] = {"token", "position", "sum"};
    struct subspace space[3];
    struct angles angles;
    for (int i = 0; i < (now ? 3 : 2); i++) {
        if (subspace_find(s->team, &space[i], of[i], ENERGY, &s->arena, &s->err) != PEAT_OK)
            return;
        put_space(v, key[i], of[i], &space[i]);
    }
    if (put_angles(s, &space[0], &space[1], v, &angles) && now)
        summarise_spaces(&space[0], &space[1], &angles, v);
}

void diagnose_subspaces(struct subject *s, struct json v)
{
    const struct tables *t = tables_or_skip(s, v);
    if (!t)
        return;
    put_rounded(v, "energy", ENERGY);
    put_spaces(s, t, true, v);
    if (s->start && !s->start->missing)
        put_spaces(s, s->start, false, json_put_map(v, "start"));
}
