/* SPDX-License-Identifier: MIT */
/*
 * claim_verdict.h: whether the claims of an experiment hold.
 *
 * A claim holds when its one-sided test (of `equal`: both, see equivalence_p) is below alpha after
 * Holm's adjustment over all claims of the file, and fails when the test of the opposite is. A
 * claim for which neither is below alpha, or with unfinished cells, is undecided. Where seeds are
 * added until the claims are decided, each has its share of alpha and is judged at each look until
 * it holds or fails (claim_looks.c).
 */
#pragma once

#include "experiment/claim.h"
#include "report/effect_change.h"

enum claim_end { CLAIM_UNDECIDED, CLAIM_HOLDS, CLAIM_FAILS };
/* "undecided", "holds", "fails" */
extern const char *const claim_ends[];

struct claim_verdict {
    struct claim claim;
    const char *run;        /* in a family over several runs, which one's it is; else NULL */
    struct effects effects; /* of its contrast */
    /* The effects that it is about: effects.pooled, or its changes (effect_change.h). Several are a
     * monotone trend: the claim holds when each of them does (Berger 1982, Technometrics 24, 295),
     * and fails when one of them fails after Bonferroni's correction over them. */
    int n_about;
    const struct effect *about;
    const struct effect *shown; /* of these the one with the largest p; never NULL */
    const char *no_change;      /* why n_about is 0 */
    enum paired_test test;
    double p, p_holm;             /* for the claim */
    double against, against_holm; /* for its opposite */
    double ci_low, ci_high;       /* the 1 - 2 alpha interval of the effect, which is the one that
                                     one-sided tests at alpha look at */
    double text_half;             /* of the same level over seeds and test text; NaN: none */
    enum claim_end verdict;
    const char *why; /* it is undecided; "" */
    /* Where seeds are added until the claims are decided (claim.n_look): the look that decided it,
     * or the last one whose cells have ended, 0: none; and the one-sided level of p at this look.
     * p_holm and against_holm are then p as they compare with alpha, and the interval is the
     * repeated confidence interval of that level (Jennison and Turnbull 1989, J. R. Stat. Soc. B
     * 51, 305). */
    int look;
    double level;
};

/* One state of the claims (grid/claimfile.h) judged by the results there are. */
struct claim_verdicts {
    int n;
    struct claim_verdict *item;
    const struct claims_version *version;
};

/* The claim of v's normal form with its effects and p values in these results, before Holm. */
peat_status claim_test(struct claim_verdict *c, const struct results *r, const struct value *v,
                       struct arena *a, struct error *err);

peat_status claims_judge(struct claim_verdicts *v, const struct results *r,
                         const struct claims_version *version, struct arena *a, struct error *err);
/* The claims as they are now, and as they were before the first result where that differs: `first`
 * is NULL in v->version when it does not. v->n is 0 when there are no claims. */
struct claim_history {
    struct claim_verdicts now, first;
    bool late; /* there were results when the first claims were written */
    /* One family over several runs: what each run alone says, and its name. now has the claims of
     * all as they are now, adjusted together, and no version. */
    int n_run;
    const struct claim_history *of;
    char *const *run;
};
peat_status claims_history(struct claim_history *h, const struct results *r, struct arena *a,
                           struct error *err);

/* claim_family.c: the claims of n runs, each judged by its own results, in one family: Holm over
 * all of them. PEAT_INVALID: one has no claims. */
peat_status claims_family(struct claim_history *h, int n, const struct results *r,
                          char *const *name, struct arena *a, struct error *err);
/* The same of run directories, each read as a run of its own. */
peat_status claims_of_runs(struct claim_history *h, int n, char *const *dir,
                           const struct results_options *o, struct arena *a, struct error *err);
/* claim_looks.c: judges a claim that has looks at each of them. test: it with its p values in the
 * results of some seeds. */
peat_status claim_look(struct claim_verdict *c, const struct results *r, const struct value *v,
                       struct arena *a, struct error *err);
/* The one-sided level of p at its last look. */
double claim_last_level(const struct claim *c);
/* Its p values in these results, all seeds of them, before any adjustment. */
peat_status claim_test_once(struct claim_verdict *c, const struct results *r, const struct value *v,
                            struct arena *a, struct error *err);
/* Fills verdict and why from adjusted p values; m: claims of the family. */
void claim_decide(struct claim_verdict *v, int m, struct arena *a);
/* The tests at once of which the opposite is made: their p is against / this. */
int claim_parts_against(const struct claim_verdict *v);
/* Holm over the claims of v, which have their p, and their verdicts. */
void claims_settle(struct claim_verdicts *v, struct arena *a);
/* "learned.sum (3), ...": the rows whose cells several of the claims compare, with how many of the
 * claims; rows of two runs are one where they have a cell in common. NULL: there is none. */
const char *claims_shared(const struct claim_verdicts *v, struct arena *a);

/* Sets the 1 - 2 alpha interval of the effect that is shown, and text_half. Where the claim takes
 * seeds and text as samples, it is the wider one of the interval over them and that over seeds. */
void claim_interval(struct claim_verdict *v, double alpha);

/* "concat_split - sum < -0.01" */
const char *claim_words(const struct claim_verdict *v, struct arena *a);
/* The unit of its effect behind the metric: " per doubling of train.steps"; "" for a difference. */
const char *claim_per(const struct claim_verdict *v, struct arena *a);

/* Why a claim that has enough seeds is undecided: where the interval of the effect lies. */
const char *claim_undecided(const struct claim_verdict *v, struct arena *a);

/* Whether so many seeds can decide the claim among m, and if not how many can; with the standard
 * deviation of a pilot's differences also how likely they do. */
struct claim_outlook {
    double smallest;      /* p that n seeds can give */
    bool can;             /* it is below alpha / m */
    int seeds_for_p;      /* fewest with which it is */
    double effect, power; /* NaN: no pilot; alpha is divided by m */
    int seeds_for_power;  /* fewest with a power of CLAIM_POWER; 0: none up to PAIRS_MAX, or no
                             pilot */
};
#define CLAIM_POWER 0.8
/* Why n seeds cannot decide it, and how many can. */
const char *claim_too_few(const struct claim *c, const struct claim_outlook *o, int n, int m,
                          struct arena *a);
/* sd NaN: no pilot. effect: A - B that is expected. */
struct claim_outlook claim_look_ahead(const struct claim *c, int n, int m, double effect,
                                      double sd);
