/* SPDX-License-Identifier: MIT */
/* spaces.c: measures whether tokens and positions span different subspaces. */
#include "maths/subspace.h"
#include "rounded.h"
#include "tables.h"

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

static void summarise(const struct subspace *x, const struct subspace *y, const struct angles *g,
                      struct json v)
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
        summarise(&space[0], &space[1], &angles, v);
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
