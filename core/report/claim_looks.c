/* SPDX-License-Identifier: MIT */
/* claim_looks.c: judges a claim at several numbers of seeds until it is decided. */

#include "maths/spending.h"
#include "report/claim_verdict.h"
#include "report/numbers.h"

struct levels {
    double p[EXPERIMENT_MAX_LOOKS], against[EXPERIMENT_MAX_LOOKS];
};

static void look_levels(const struct claim *c, double alpha, double *level)
{
    double t[EXPERIMENT_MAX_LOOKS];
    for (int k = 0; k < c->n_look; k++)
        t[k] = (double)c->look[k] / c->look[c->n_look - 1];
    spending_levels((enum spending)c->spending, alpha, t, c->n_look, level);
}

double claim_last_level(const struct claim *c)
{
    double level[EXPERIMENT_MAX_LOOKS];
    look_levels(c, c->alpha * c->share, level);
    return level[c->n_look - 1];
}

/* Sets the levels. The opposite consists of several tests; each gets an equal part of its alpha. */
static void fill_levels(struct levels *l, const struct claim_verdict *v)
{
    const struct claim *c = &v->claim;
    const int parts = claim_parts_against(v), n = c->n_look;
    look_levels(c, c->alpha * c->share, l->p);
    if (parts > 1)
        look_levels(c, c->alpha * c->share / parts, l->against);
    for (int k = 0; k < n; k++)
        l->against[k] = parts > 1 ? l->against[k] * parts : l->p[k];
}

static void say_where(struct claim_verdict *v, struct arena *a)
{
    const struct claim *c = &v->claim;
    const int seeds = c->look[v->look - 1];
    const char *not_below =
        arena_printf(a, "p %s is not below %s", number_p(a, v->p), number_p(a, v->level));
    v->why = v->look == c->n_look ? arena_printf(a, "all %d looks, up to %d seeds, are used: %s",
                                                 v->look, seeds, not_below)
                                  : arena_printf(a, "%s at look %d of %d, with %d seeds", not_below,
                                                 v->look, c->n_look, seeds);
}

static void judge_look(struct claim_verdict *v, int k, const struct levels *l, struct arena *a)
{
    const double alpha = v->claim.alpha;
    v->look = k + 1;
    v->level = l->p[k];
    v->against_level = l->against[k];
    v->p_holm = v->p * alpha / l->p[k];
    v->against_holm = v->against * alpha / l->against[k];
    claim_interval(v, v->level);
    claim_decide(v, 1, a);
    bool no_evidence =
        v->effects.unfinished || isnan(v->p) || v->p_holm < alpha || v->against_holm < alpha;
    if (v->verdict == CLAIM_UNDECIDED && !no_evidence)
        say_where(v, a);
}

peat_status claim_look(struct claim_verdict *v, const struct results *r, const struct value *value,
                       struct arena *a, struct error *err)
{
    const struct claim design = v->claim;
    struct levels *l = ARENA_NEW(a, struct levels);
    for (int k = 0; k < design.n_look; k++) {
        struct claim_verdict *now = ARENA_NEW(a, struct claim_verdict);
        struct results *first = ARENA_NEW(a, struct results); /* its first seeds */
        *first = *r;
        first->n_seed = design.look[k] < r->n_seed ? design.look[k] : r->n_seed;
        peat_status status = claim_test_once(now, first, value, a, err);
        if (status != PEAT_OK)
            return status;
        if (k == 0)
            fill_levels(l, now);
        int open = now->effects.unfinished + now->effects.failed;
        if (open) {
            const char *before = k ? arena_printf(a, "%s; ", v->why) : "";
            *v = k ? *v : *now;
            v->why = arena_printf(a, "%slook %d has %d cell%s that %s not finished", before, k + 1,
                                  open, plural(open), open == 1 ? "is" : "are");
            break;
        }
        *v = *now;
        judge_look(v, k, l, a);
        if (v->verdict != CLAIM_UNDECIDED || v->shown->of.n == 0)
            break;
    }
    return PEAT_OK;
}
