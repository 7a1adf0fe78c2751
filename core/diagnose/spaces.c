/* SPDX-License-Identifier: MIT */
/* spaces.c: do tokens and positions span different subspaces? */
#include "base/rng.h"
#include "diagnose/diagnostics.h"
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

static void put_random(struct json map, const char *key, const struct angle_baseline *b)
{
    struct json v = json_put_map(map, key);
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

static peat_status put_angles(struct subject *s, const struct subspace *x, const struct subspace *y,
                              struct json v, struct angles *out, struct error *err)
{
    enum { DRAWS = 50 };
    struct arena *a = &s->arena;
    double *angle = ARENA_ARRAY(a, x->d, double);
    peat_status status = principal_angles(s->team, x, y, angle, &out->found, a, err);
    if (status == PEAT_OK && out->found.n > 0)
        status = angles_random(s->team, x->k, y->k, x->d, DRAWS, rng_substream(s->stream, 1),
                               &out->random, a, err);
    if (status != PEAT_OK)
        return status;
    put_rounded_row(v, "angles", angle, out->found.n);
    put_rounded(v, "mean", out->found.mean);
    put_rounded(v, "smallest", out->found.smallest);
    put_rounded(v, "overlap", out->found.overlap);
    if (out->found.n > 0)
        put_random(v, "random", &out->random);
    return PEAT_OK;
}

static void summarise(const struct subspace *x, const struct subspace *y, const struct angles *g,
                      struct json v)
{
    const double rounding = 1e-5; /* degrees: two that fill the whole space */
    double mean = g->found.mean;
    const struct spread *base = &g->random.mean;
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

/* Tables as they are at one time: now, or before training. */
static peat_status put_spaces(struct subject *s, const struct tables *t, bool now, struct json v,
                              struct error *err)
{
    struct subspace token, position, sum;
    struct angles angles;
    struct arena *a = &s->arena;
    peat_status status = subspace_find(s->team, &token, &t->token, ENERGY, a, err);
    if (status == PEAT_OK)
        status = subspace_find(s->team, &position, &t->position, ENERGY, a, err);
    if (status == PEAT_OK && now)
        status = subspace_find(s->team, &sum, &t->input, ENERGY, a, err);
    if (status != PEAT_OK)
        return status;
    put_space(v, "token", &t->token, &token);
    put_space(v, "position", &t->position, &position);
    if (now)
        put_space(v, "sum", &t->input, &sum);
    status = put_angles(s, &token, &position, v, &angles, err);
    if (status == PEAT_OK && now)
        summarise(&token, &position, &angles, v);
    return status;
}

peat_status diagnose_subspaces(struct subject *s, struct json v, struct error *err)
{
    struct tables t;
    peat_status status = tables_find(s, &t, err);
    if (status != PEAT_OK)
        return status;
    if (t.missing) {
        json_put_text(v, "skipped", t.missing);
        return PEAT_OK;
    }
    put_rounded(v, "energy", ENERGY);
    status = put_spaces(s, &t, true, v, err);
    if (status == PEAT_OK && s->start && !s->start->missing)
        status = put_spaces(s, s->start, false, json_put_map(v, "start"), err);
    return status;
}
