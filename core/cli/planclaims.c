/* SPDX-License-Identifier: MIT */
/* planclaims.c: prints whether the seeds of a plan can decide its claims. */
#include "cli/findrun.h"
#include "cli/planparts.h"

#include "cli/verbs.h"
#include "report/claim_verdict.h"
#include "report/numbers.h"

struct outlook {
    struct claim claim;
    struct claim_outlook o;
    int pilot_n; /* number of the pilot's seeds for the claim; -1: no pilot */
    double pilot_sd;
    bool has_rows; /* claim_has_rows of struct plan */
};

/* ---- the outlook ---- */

static struct labelled axes_of(const struct experiment *e, struct arena *a)
{
    const char **key = ARENA_ARRAY(a, e->n_axis + 1, const char *);
    int n = 0;
    for (int i = 0; i < e->n_axis; i++)
        if (!e->chosen[i])
            key[n++] = e->axis[i].key;
    return (struct labelled){.n_axis = n, .axis = key};
}

/* Seeds that are not kept for choosing. */
static int seeds_of(const struct experiment *e)
{
    return e->n_seed - e->report.best_over.n_seed;
}

/* The expected effect: the claim's own, or else the pilot's difference; 0 for a claim of
 * equality. */
static double expected(const struct claim *c, double pilot)
{
    if (isfinite(c->expect))
        return c->expect;
    return c->direction == CLAIM_EQUAL ? 0.0 : pilot;
}

static bool look_at_pilot(const struct results *pilot, const struct value *v, struct difference *d,
                          struct arena *a, struct error *err)
{
    struct claim_verdict c = {.n_about = 0};
    if (claim_test(&c, pilot, v, a, NULL) != PEAT_OK)
        return error_fail(
            err, PEAT_INVALID,
            "option '--pilot': the rows of the pilot do not fit the axes of the claim");
    *d = c.shown->of;
    return true;
}

static bool look_ahead(struct loaded_plan *l, const struct results *pilot, int i,
                       struct outlook *out, struct error *err)
{
    const struct value *claims = l->experiment.claims;
    struct labelled axes = axes_of(&l->experiment, &l->arena);
    struct difference d = {.n = -1, .mean = (double)NAN, .sd = (double)NAN};
    if (claim_from_value(&out->claim, claims->item[i], &axes, err) != PEAT_OK ||
        (pilot && !look_at_pilot(pilot, claims->item[i], &d, &l->arena, err)))
        return false;
    out->has_rows = l->plan.claim_has_rows[i];
    out->pilot_n = d.n;
    out->pilot_sd = d.sd;
    /* For a claim with looks: the outlook at the last one. An earlier look may decide it too. */
    struct claim judged = out->claim;
    if (judged.n_look)
        judged.alpha = claim_last_level(&out->claim);
    out->o = claim_look_ahead(&judged, seeds_of(&l->experiment), judged.n_look ? 1 : claims->n,
                              expected(&out->claim, d.mean), d.sd);
    return true;
}

/* ---- in words ---- */

/* The number of rows that are compared with the baseline in the table. */
static int count_comparisons(const struct plan *p, const struct plan_runs *runs)
{
    const struct best_over *b = &p->experiment->report.best_over;
    int n = 0, seed = 0;
    while (best_over_keeps(b, p->experiment->seed[seed]))
        seed++;
    for (int i = 0; i < p->n; i++)
        n += runs->is_run[i] && p->cell[i].seed == p->experiment->seed[seed] &&
             p->cell[i].baseline >= 0 && p->cell[i].baseline != i;
    return n;
}

void plan_say_comparisons(const struct plan *p, const struct plan_runs *runs)
{
    int n = count_comparisons(p, runs), needed;
    if (n == 0)
        return;
    needed = paired_pairs_needed(TEST_SIGN_FLIP, 2, n, STATS_LEVEL);
    cli_print("table: %d difference%s to the baseline: the exact sign-flip test with Holm needs %d "
              "seeds for p < %.2g, %d %s planned\n",
              n, plural(n), needed, STATS_LEVEL, runs->seeds, runs->seeds == 1 ? "is" : "are");
}

static void say_power(const struct outlook *x)
{
    if (x->pilot_n < 0)
        return;
    if (isnan(x->o.power)) {
        cli_print("; the pilot has %d seed%s for this claim, too few to estimate the spread",
                  x->pilot_n, plural(x->pilot_n));
        return;
    }
    cli_print("; power %.2f for an effect of %+.3g (pilot: sd %.3g over %d seeds)", x->o.power,
              x->o.effect, x->pilot_sd, x->pilot_n);
    if (x->o.seeds_for_power)
        cli_print(": %.0f %% needs %d seeds", 100.0 * CLAIM_POWER, x->o.seeds_for_power);
    else if (x->o.power == 0.0)
        cli_print(": with this effect the claim is wrong");
    else
        cli_print(": %.0f %% needs more than %d seeds", 100.0 * CLAIM_POWER, PAIRS_MAX);
}

static void say_claim(const struct outlook *x, int seeds, int m, struct arena *a)
{
    const struct claim *c = &x->claim;
    cli_print("claim %s: ", shown_text(a, c->name));
    if (!x->has_rows) {
        cli_print("undecided: this grid leaves out rows that the claim compares\n");
        return;
    }
    if (c->n_look)
        cli_print("%s at %d looks, the last with %d seeds and level %s, alpha %.3g of %.3g (%s)",
                  x->o.can ? "can be decided" : "cannot be decided", c->n_look, seeds,
                  number_p(a, claim_last_level(c)), c->alpha * c->share, c->alpha, c->test);
    else if (x->o.can)
        cli_print("%d seed%s can decide it (%s)", seeds, plural(seeds), c->test);
    else
        cli_print("%s", claim_too_few(c, &x->o, seeds, m, a));
    say_power(x);
    cli_print("\n");
}

/* The fewest seeds with which the sign-flip test can decide one of m claims at this level. */
static int sign_flip_seeds(double alpha, int m)
{
    return paired_pairs_needed(TEST_SIGN_FLIP, 1, m, alpha);
}

/* Prints the number of seeds that the sign-flip test would need, for claims with a t test, which
 * two seeds can decide if the differences are normal. */
static void say_sign_flip(const struct experiment *e, double alpha)
{
    int n = e->claims->n, needed = sign_flip_seeds(alpha, n), seeds = seeds_of(e);
    cli_print("claims: without the assumption that differences are normal (test: sign-flip) %d "
              "seed%s %s needed, Holm over %d claim%s; %d %s planned\n",
              needed, plural(needed), needed == 1 ? "is" : "are", n, plural(n), seeds,
              seeds == 1 ? "is" : "are");
}

static void put_claim(struct json m, const struct outlook *x, int seeds, int claims)
{
    json_put_text(m, "name", x->claim.name);
    json_put_int(m, "seeds", seeds);
    json_put_bool(m, "can_be_decided", x->o.can && x->has_rows);
    json_put_number(m, "smallest_p", x->o.smallest);
    json_put_int(m, "seeds_for_p", x->o.seeds_for_p);
    json_put_int(m, "seeds_for_sign_flip", sign_flip_seeds(x->claim.alpha, claims));
    json_put_number(m, "power", x->o.power);
    json_put_number(m, "effect", x->o.effect);
    json_put_number(m, "pilot_sd", x->pilot_sd);
    json_put_int(m, "seeds_for_power", x->o.seeds_for_power);
}

void plan_claims(struct loaded_plan *l, const char *pilot, const struct json *list,
                 struct error *err)
{
    const struct experiment *e = &l->experiment;
    static const struct results_options none;
    struct results *r = ARENA_NEW(&l->arena, struct results);
    struct outlook x;
    double least = 1.0;
    bool by_t = false;
    int n = e->claims ? e->claims->n : 0;
    const char *dir = pilot ? find_run(pilot, &l->arena, err) : NULL;
    if (pilot && n == 0)
        error_set(err, PEAT_INVALID, "option '--pilot': the experiment has no claims");
    else if (dir)
        results_read(r, 1, (char *[]){arena_strdup(&l->arena, dir)}, &none, &l->arena, err);
    for (int i = 0; err->status == PEAT_OK && i < n; i++) {
        if (!look_ahead(l, pilot ? r : NULL, i, &x, err))
            return;
        if (list)
            put_claim(json_add_map(*list), &x, seeds_of(e), n);
        else
            say_claim(&x, seeds_of(e), n, &l->arena);
        least = fmin(least, x.claim.alpha);
        by_t = by_t || strcmp(x.claim.test, paired_test_words[TEST_T]) == 0;
    }
    if (by_t && !list && !e->looks.n && err->status == PEAT_OK)
        say_sign_flip(e, least);
}
