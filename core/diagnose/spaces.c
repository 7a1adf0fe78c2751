/* SPDX-License-Identifier: MIT */
/* spaces.c: do tokens and positions span different subspaces? */
#include "base/rng.h"
#include "diagnose/diagnostics.h"
#include "diagnose/figures.h"
#include "maths/subspace.h"
#include "tables.h"

static const double ENERGY = 0.99;

static struct value *space_value(struct arena *a, const struct matrix *m, const struct subspace *s)
{
    struct value *v = figures_map(a);
    member_set_integer(a, v, "rows", m->rows);
    member_set_integer(a, v, "rank", s->rank.components);
    figure_set(a, v, "effective", s->rank.entropy);
    figure_set(a, v, "constant", s->constant);
    return v;
}

static struct value *random_value(struct arena *a, const struct angle_baseline *b)
{
    struct value *v = figures_map(a);
    figure_set(a, v, "mean", b->mean.mean);
    figure_set(a, v, "low", b->mean.q05);
    figure_set(a, v, "high", b->mean.q95);
    figure_set(a, v, "smallest", b->smallest.mean);
    figure_set(a, v, "overlap", b->overlap.mean);
    return v;
}

static peat_status add_angles(struct subject *s, const struct subspace *x, const struct subspace *y,
                              struct value *v, struct error *err)
{
    enum { DRAWS = 50 };
    struct arena *a = &s->arena;
    struct angle_summary sum;
    struct angle_baseline base;
    double *angle = ARENA_ARRAY(a, x->d, double);
    peat_status status = principal_angles(x, y, angle, &sum, a, err);
    if (status == PEAT_OK && sum.n > 0)
        status = angles_random(x->k, y->k, x->d, DRAWS, rng_substream(s->stream, 1), &base, a, err);
    if (status != PEAT_OK)
        return status;
    member_set(a, v, "angles", figure_row(a, angle, sum.n));
    figure_set(a, v, "mean", sum.mean);
    figure_set(a, v, "smallest", sum.smallest);
    figure_set(a, v, "overlap", sum.overlap);
    if (sum.n == 0) {
        summary_set(a, v, "one of the two does not vary: there are no angles");
        return PEAT_OK;
    }
    member_set(a, v, "random", random_value(a, &base));
    const char *word = sum.mean > base.mean.q95   ? "more apart than"
                       : sum.mean < base.mean.q05 ? "nearer to each other than"
                                                  : "as far apart as";
    summary_set(a, v,
                "tokens span %lld and positions %lld of %lld dimensions, at %.1f degrees in the "
                "mean: %s random subspaces (%.1f)",
                (long long)x->k, (long long)y->k, (long long)x->d, sum.mean, word, base.mean.mean);
    return PEAT_OK;
}

peat_status diagnose_subspaces(struct subject *s, struct value **v, struct error *err)
{
    struct tables t;
    struct subspace token, position, sum;
    struct arena *a = &s->arena;
    peat_status status = tables_find(s, &t, err);
    if (status != PEAT_OK)
        return status;
    if (t.missing) {
        *v = figures_skipped(a, t.missing);
        return PEAT_OK;
    }
    status = subspace_find(&token, &t.token, ENERGY, a, err);
    if (status == PEAT_OK)
        status = subspace_find(&position, &t.position, ENERGY, a, err);
    if (status == PEAT_OK)
        status = subspace_find(&sum, &t.input, ENERGY, a, err);
    if (status != PEAT_OK)
        return status;
    *v = figures_map(a);
    figure_set(a, *v, "energy", ENERGY);
    member_set(a, *v, "token", space_value(a, &t.token, &token));
    member_set(a, *v, "position", space_value(a, &t.position, &position));
    member_set(a, *v, "sum", space_value(a, &t.input, &sum));
    return add_angles(s, &token, &position, *v, err);
}
