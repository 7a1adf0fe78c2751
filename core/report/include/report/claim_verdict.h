/* SPDX-License-Identifier: MIT */
/*
 * claim_verdict.h: whether the claims of an experiment hold.
 *
 * A claim holds when the p of its one-sided test (for `equal`: of both tests) is below alpha after
 * Holm's adjustment over all claims of the file, and fails when that of the opposite is. A claim
 * for which neither is below alpha, or with unfinished cells, is undecided. Where seeds are added
 * until the claims are decided, each has its share of alpha and is judged at each look until it
 * holds or fails (claim_looks.c).
 */
#pragma once

#include "experiment/claim.h"
#include "report/effects.h"

enum claim_end { CLAIM_UNDECIDED, CLAIM_HOLDS, CLAIM_FAILS };
/* "undecided", "holds", "fails" */
extern const char *const claim_ends[];

struct claim_verdict {
    struct claim claim;
    const char *run;        /* in a family over several runs, the name of the claim's run;
                             * otherwise NULL */
    struct effects effects; /* effects of its contrast */
    /* The effects that the claim is about: effects.pooled, or its changes (effect_change.c).
     * Several effects are a monotone trend: the claim holds when it holds for each of them (Berger
     * 1982, Technometrics 24, 295), and fails when it fails for one of them after Bonferroni's
     * correction. */
    int n_about;
    const struct effect *about;
    const struct effect *shown;   /* the one of these effects with the largest p; never NULL */
    const char *no_change;        /* why n_about is 0 */
    const struct effects *strata; /* the contrast with a line for each stratum over which the claim
                                   * is pooled; NULL: it is not pooled, or is about a change */
    enum paired_test test;
    double p, p_holm;             /* p values for the claim */
    double against, against_holm; /* p values for its opposite */
    double ci_low, ci_high;       /* the 1 - 2 alpha interval of the effect, which corresponds to
                                   * one-sided tests at alpha */
    double text_half;             /* half-width of such an interval over seeds and test text;
                                   * NaN: not computed */
    enum claim_end verdict;
    const char *why; /* why it is undecided; "" */
    /* Where seeds are added until the claims are decided (claim.n_look): the number of the look
     * that decided it, or of the last one whose cells have ended (0: no look yet); and the
     * one-sided level of p at this look. p_holm and against_holm are then p scaled for comparison
     * with alpha, and the interval is the repeated confidence interval of that level (Jennison and
     * Turnbull 1989, J. R. Stat. Soc. B 51, 305). */
    int look;
    double level, against_level; /* against_level: of the p of the opposite */
};

/* One version of the claims (grid/claimfile.h) judged by the present results. */
struct claim_verdicts {
    int n;
    struct claim_verdict *item;
    const struct claims_version *version;
};

/* Computes the claim with normal form v: its effects and p values in these results, before Holm. */
peat_status claim_test(struct claim_verdict *c, const struct results *r, const struct value *v,
                       struct arena *a, struct error *err);

/* The claims as they are now and, if they changed after it, as they were before the first step.
 * `first` has v->version NULL when they did not change. v->n is 0 when there are no claims. */
struct claim_history {
    struct claim_verdicts now, first;
    bool late;      /* steps had been taken when the first claims were written */
    int begun;      /* number of planned cells that were started before the claims were written */
    bool back;      /* the claims were changed after the first step, and changed back */
    bool replanned; /* the claims are the same, and what they are about was changed */
    const struct registration *registration; /* NULL: a family, whose runs have theirs */
    /* One family over several runs: the verdicts within each run, and the runs' names. `now` has
     * the present claims of all runs, adjusted together, and no version. */
    int n_run;
    const struct claim_history *of;
    char *const *run;
};
peat_status claims_history(struct claim_history *h, const struct results *r, struct arena *a,
                           struct error *err);

/* claim_family.c: the claims of n run directories, each judged by its own run's results, in one
 * family: Holm over all claims. PEAT_INVALID: a run has no claims. */
peat_status claims_of_runs(struct claim_history *h, int n, char *const *dir,
                           const struct results_options *o, struct arena *a, struct error *err);
/* claim_looks.c: judges a claim that has looks at each of them. test: computes the claim with its p
 * values in the results of some seeds. */
peat_status claim_look(struct claim_verdict *c, const struct results *r, const struct value *v,
                       struct arena *a, struct error *err);
/* The one-sided level of p at the claim's last look. */
double claim_last_level(const struct claim *c);
/* The claim's p values in these results, with all their seeds, before any adjustment. */
peat_status claim_test_once(struct claim_verdict *c, const struct results *r, const struct value *v,
                            struct arena *a, struct error *err);
/* Sets verdict and why from adjusted p values; m: number of claims in the family. */
void claim_decide(struct claim_verdict *v, int m, struct arena *a);
/* The number of tests that test the opposite; their unadjusted p is `against` divided by it. */
int claim_parts_against(const struct claim_verdict *v);
/* Applies Holm over the claims of v, which have their p, and decides them. */
void claims_settle(struct claim_verdicts *v, struct arena *a);
/* "learned.sum (3), ...": the rows whose cells several of the claims compare, with the number of
 * those claims; rows of two runs count as one where they share a cell. NULL: no such row. */
const char *claims_shared(const struct claim_verdicts *v, struct arena *a);

/* The p of the test that decided the claim, adjusted unless it has looks, and for those the level
 * of that test: of the opposite where the claim fails, otherwise of the claim. */
double claim_p(const struct claim_verdict *v);
double claim_level(const struct claim_verdict *v);

/* ---- claim_strata.c ---- */

/* Sets v->strata. */
void claim_strata(struct claim_verdict *v, const struct results *r, struct arena *a);
/* "depends on size" where an interaction is shown (p below STATS_LEVEL, not adjusted), otherwise
 * "both signs" where the strata have both; NULL: neither. Such a verdict is never shown as plain.
 */
const char *claim_depends(const struct claim_verdict *v, struct arena *a);
/* "S -0.063, M +0.010: depends on size, p = 0.001"; NULL where claim_depends is. */
const char *claim_strata_text(const struct claim_verdict *v, struct arena *a);

/* Sets the 1 - 2 alpha interval of the effect that is shown, and text_half. Where the claim samples
 * seeds and text, the interval is the wider one of those over seeds and over both. */
void claim_interval(struct claim_verdict *v, double alpha);

/* "concat_split - sum < -0.01" */
const char *claim_words(const struct claim_verdict *v, struct arena *a);
/* The unit of its effect, to be put after the metric: " per doubling of train.steps"; "" for a
 * difference. */
const char *claim_per(const struct claim_verdict *v, struct arena *a);

/* Why a claim that has enough seeds is undecided: the position of the interval of its effect. */
const char *claim_undecided(const struct claim_verdict *v, struct arena *a);

/* Whether n seeds can decide the claim among m claims, and if not, the number of seeds that can;
 * with the standard deviation of a pilot's differences also the power. */
struct claim_outlook {
    double smallest;      /* the smallest p that n seeds can give */
    bool can;             /* `smallest` is below alpha / m */
    int seeds_for_p;      /* the fewest seeds with `can` */
    double effect, power; /* NaN: no pilot; the test is at alpha / m */
    int seeds_for_power;  /* the fewest seeds with a power of CLAIM_POWER; 0: more than
                           * PAIRS_MAX, or no pilot */
};
#define CLAIM_POWER 0.8
/* Why n seeds cannot decide the claim, and how many can. */
const char *claim_too_few(const struct claim *c, const struct claim_outlook *o, int n, int m,
                          struct arena *a);
/* sd NaN: no pilot. effect: the A - B that is expected. */
struct claim_outlook claim_look_ahead(const struct claim *c, int n, int m, double effect,
                                      double sd);
