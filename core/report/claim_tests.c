/* SPDX-License-Identifier: MIT */
/* claim_tests.c: tests one claim in the results of some seeds, and decides it. */
#include "maths/power.h"
#include "report/claim_verdict.h"
#include "report/numbers.h"

const char *const claim_ends[] = {"undecided", "holds", "fails"};

/* ---- tests ---- */

static enum paired_test test_of(const struct claim *c)
{
    return (enum paired_test)texts_find(paired_test_words, PAIRED_TESTS, c->test);
}

static double larger(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b);
}

/* One-sided p that the mean is above the limit, or below it. With text it is at least the p over
 * seeds alone, because with few seeds the interval with text can be the narrower one. */
static double p_beyond(const struct claim_verdict *v, const struct effect *e, double limit,
                       bool above)
{
    const struct difference *d = &e->of;
    double p = above ? paired_p_above(v->test, e->d, d->n, limit)
                     : paired_p_below(v->test, e->d, d->n, limit);
    if (v->claim.sampled == SAMPLED_SEEDS)
        return p;
    double t = (d->mean - limit) / d->text_se;
    return larger(p, isnan(t) ? t : student_t_below(above ? -t : t, d->text_df));
}

/* The p of the claim and of its opposite, for one of its effects. */
static void test_effect(const struct claim_verdict *v, const struct effect *e, double *p,
                        double *against)
{
    const double margin = v->claim.margin;
    double above = p_beyond(v, e, margin, true), below = p_beyond(v, e, -margin, false);
    switch (v->claim.direction) {
    case CLAIM_LESS:
        *p = below;
        *against = p_beyond(v, e, -margin, true);
        break;
    case CLAIM_GREATER:
        *p = above;
        *against = p_beyond(v, e, margin, false);
        break;
    case CLAIM_EQUAL:
        *p = larger(p_beyond(v, e, -margin, true), p_beyond(v, e, margin, false));
        *against = fmin(1.0, 2.0 * fmin(above, below));
        break;
    }
}

void claim_interval(struct claim_verdict *v, double alpha)
{
    const struct difference *of = &v->shown->of;
    double half = student_t_quantile(1.0 - alpha, of->n - 1) * of->sd / sqrt(of->n);
    v->text_half = isnan(of->text_df) ? of->text_df
                                      : student_t_quantile(1.0 - alpha, of->text_df) * of->text_se;
    if (v->claim.sampled == SAMPLED_SEEDS_AND_TEXT)
        half = larger(half, v->text_half);
    v->ci_low = of->mean - half;
    v->ci_high = of->mean + half;
}

static void test_effects(struct claim_verdict *v)
{
    double p = 1.0, against = 1.0;
    v->p = v->against = (double)NAN;
    for (int i = 0; i < v->n_about; i++) {
        test_effect(v, &v->about[i], &p, &against);
        if (i == 0 || isnan(p) || p > v->p) {
            v->shown = &v->about[i];
            v->p = p;
        }
        v->against = i ? fmin(v->against, against) : against;
    }
    if (v->n_about > 1)
        v->against = fmin(1.0, v->n_about * v->against);
    claim_interval(v, v->claim.alpha);
}

int claim_parts_against(const struct claim_verdict *v)
{
    return (v->claim.direction == CLAIM_EQUAL ? 2 : 1) * (v->n_about > 1 ? v->n_about : 1);
}

static const struct effect no_effect = {.of = {.mean = (double)NAN,
                                               .sd = (double)NAN,
                                               .text_half = (double)NAN,
                                               .text_se = (double)NAN,
                                               .text_df = (double)NAN}};

peat_status claim_test_once(struct claim_verdict *c, const struct results *r, const struct value *v,
                            struct arena *a, struct error *err)
{
    struct claim *claim = &c->claim;
    struct labelled rows = results_labels(r, a);
    peat_status status = claim_from_value(claim, v, &rows, err);
    if (status != PEAT_OK)
        return status;
    /* The default is the task's main metric, whatever the table shows. */
    if (!claim->contrast.metric && r->n_metric)
        claim->contrast.metric = r->known[0].name;
    c->test = test_of(claim);
    effects_compute(&c->effects, r, &claim->contrast, -1, a);
    c->about = c->shown = &c->effects.pooled;
    c->n_about = 1;
    if (claim->change.kind != CHANGE_NONE) {
        struct effect *changes = NULL;
        c->n_about = effect_changes(&c->effects, &claim->change, &changes, &c->no_change, a);
        c->about = c->shown = c->n_about ? changes : &no_effect;
    }
    test_effects(c);
    claim_strata(c, r, a);
    return PEAT_OK;
}

/* ---- before the run ---- */

static struct paired_design design_of(const struct claim *c, int m, double effect, double sd)
{
    struct paired_design d = {.equivalence = c->direction == CLAIM_EQUAL,
                              .tails = 1,
                              .margin = c->margin / sd,
                              .alpha = c->alpha / m};
    double beyond = c->direction == CLAIM_LESS ? -effect - c->margin : effect - c->margin;
    d.effect = (d.equivalence ? effect : beyond) / sd;
    return d;
}

struct claim_outlook claim_look_ahead(const struct claim *c, int n, int m, double effect, double sd)
{
    enum paired_test test = test_of(c);
    double level = c->alpha / m;
    struct claim_outlook o = {.smallest = paired_p_smallest(test, 1, n),
                              .seeds_for_p = paired_pairs_needed(test, 1, m, c->alpha),
                              .effect = effect,
                              .power = (double)NAN};
    o.can = o.smallest < level;
    if (!(sd > 0.0) || !isfinite(effect))
        return o;
    struct paired_design d = design_of(c, m, effect, sd);
    bool wrong_side = !d.equivalence && d.effect <= 0.0;
    /* paired_power expects an effect with the claimed sign. */
    o.power = wrong_side ? 0.0 : paired_power(&d, n);
    o.seeds_for_power = wrong_side ? 0 : paired_power_pairs(&d, CLAIM_POWER);
    if (o.seeds_for_power && o.seeds_for_power < o.seeds_for_p)
        o.seeds_for_power = o.seeds_for_p;
    return o;
}

/* ---- verdict ---- */

/* Number of seeds that may speak against `verdict` but are not in the mean, because one of the two
 * cells diverged, or both. */
static int diverged_against(const struct claim_verdict *v, enum claim_end verdict)
{
    const struct effect *e = v->shown;
    bool low_is_good = !v->effects.goal_max, less = v->claim.direction == CLAIM_LESS;
    if (v->claim.change.kind != CHANGE_NONE) /* counts either way, whichever cell diverged */
        return e->a_diverged + e->b_diverged + e->both_diverged;
    if (v->claim.direction == CLAIM_EQUAL)
        return e->both_diverged + (verdict == CLAIM_HOLDS ? e->a_diverged + e->b_diverged : 0);
    bool a_is_better = less == low_is_good;
    return e->both_diverged +
           (a_is_better == (verdict == CLAIM_HOLDS) ? e->a_diverged : e->b_diverged);
}

const char *claim_too_few(const struct claim *c, const struct claim_outlook *o, int n, int m,
                          struct arena *a)
{
    return arena_printf(
        a,
        "%d seed%s cannot decide it: the smallest p of the %s is %.2g, and Holm over "
        "%d claim%s asks for %.2g; it needs %d seeds",
        n, plural(n), paired_test_name(test_of(c)), o->smallest, m, plural(m), c->alpha / m,
        o->seeds_for_p);
}

/* Why no seed has a difference. */
static const char *nothing_paired(const struct pairs *p, struct arena *a)
{
    for (int i = 0; i < REFUSALS; i++)
        if (p->refused[i])
            return arena_printf(a, "%d of %d pairs of cells refused: %s", p->refused[i],
                                p->n + pairs_refused(p), refusals[i].whole);
    return "no seed has a value in every row that it compares";
}

/* Why no verdict is possible; NULL: a verdict is possible. */
static const char *no_evidence(const struct claim_verdict *v, struct arena *a)
{
    const struct effects *x = &v->effects;
    if (x->unfinished)
        return arena_printf(a, "%d cell%s of it %s not finished", x->unfinished,
                            plural(x->unfinished), x->unfinished == 1 ? "is" : "are");
    if (x->not_pooled)
        return x->not_pooled;
    if (x->pairs.n == 0)
        return x->n_other_task
                   ? "rows of different tasks, objectives or rules of stopping are not compared"
                   : "no two rows of this run have these labels";
    if (v->no_change)
        return v->no_change;
    if (v->shown->of.n == 0)
        return nothing_paired(&x->counted, a);
    if (v->claim.sampled == SAMPLED_SEEDS_AND_TEXT && isnan(v->shown->of.text_se))
        return "the interval over seeds and text needs two seeds or more, cells with a test part "
               "(eval.test), and a metric that is a multiple of the loss";
    return NULL;
}

const char *claim_undecided(const struct claim_verdict *v, struct arena *a)
{
    const struct claim *c = &v->claim;
    const double low = c->direction == CLAIM_GREATER ? c->margin : 0.0 - c->margin;
    const double high = c->direction == CLAIM_LESS ? 0.0 - c->margin : c->margin;
    bool below = v->ci_high<low, above = v->ci_low> high;
    bool inside = v->ci_low > low && v->ci_high < high;
    bool agrees = c->direction == CLAIM_LESS      ? below
                  : c->direction == CLAIM_GREATER ? above
                                                  : inside;
    const char *interval = arena_printf(a, "the %.4g %% interval of the effect, %.3g to %.3g,",
                                        100.0 * (1.0 - 2.0 * c->alpha), v->ci_low, v->ci_high);
    const char *place = below    ? arena_printf(a, "below %.4g", low)
                        : above  ? arena_printf(a, "above %.4g", high)
                        : inside ? arena_printf(a, "within ±%.4g", high)
                                 : NULL;
    if (place)
        return arena_printf(a, "%s is %s, but p_holm%s is %s, not below %.4g", interval, place,
                            agrees ? "" : " of the opposite",
                            number_p(a, agrees ? v->p_holm : v->against_holm), c->alpha);
    bool at_low = v->ci_low <= low, at_high = v->ci_high >= high && high > low;
    const char *bounds = at_low && at_high ? arena_printf(a, "%.4g and %.4g", low, high)
                                           : arena_printf(a, "%.4g", at_low ? low : high);
    return arena_printf(a,
                        "%s includes %s, so the data are consistent with the claim and with its "
                        "opposite",
                        interval, bounds);
}

void claim_decide(struct claim_verdict *v, int m, struct arena *a)
{
    double alpha = v->claim.alpha;
    enum claim_end verdict = v->p_holm < alpha         ? CLAIM_HOLDS
                             : v->against_holm < alpha ? CLAIM_FAILS
                                                       : CLAIM_UNDECIDED;
    v->verdict = CLAIM_UNDECIDED;
    v->why = no_evidence(v, a);
    if (v->why)
        return;
    int against = verdict == CLAIM_UNDECIDED ? 0 : diverged_against(v, verdict);
    if (against) {
        v->why = arena_printf(a,
                              "%d seed%s diverged, which may speak against '%s': the remaining "
                              "seeds are a biased sample",
                              against, plural(against), claim_ends[verdict]);
        return;
    }
    v->verdict = verdict;
    struct claim_outlook o =
        claim_look_ahead(&v->claim, v->shown->of.n, m, (double)NAN, (double)NAN);
    if (verdict != CLAIM_UNDECIDED)
        v->why = "";
    else if (!o.can && !v->claim.n_look)
        v->why = claim_too_few(&v->claim, &o, v->shown->of.n, m, a);
    else if (isnan(v->p))
        v->why = "all differences are equal, so the t test gives no p; set test: sign-flip";
    else
        v->why = claim_undecided(v, a);
}
