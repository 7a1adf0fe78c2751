/* SPDX-License-Identifier: MIT */
/*
 * claim_verdict.h: whether the claims of an experiment hold.
 *
 * A claim holds when its one-sided test (of `equal`: both, see equivalence_p) is below alpha after
 * Holm's adjustment over all claims of the file, and fails when the test of the opposite is. A
 * claim for which neither is below alpha, or with unfinished cells, is undecided.
 */
#ifndef REPORT_CLAIM_VERDICT_H
#define REPORT_CLAIM_VERDICT_H

#include "experiment/claim.h"
#include "report/effects.h"

enum claim_end { CLAIM_UNDECIDED, CLAIM_HOLDS, CLAIM_FAILS };
/* "undecided", "holds", "fails" */
extern const char *const claim_ends[];

struct claim_verdict {
    struct claim claim;
    struct effects effects; /* of its contrast; the claim is about effects.pooled */
    enum paired_test test;
    double p, p_holm;             /* for the claim */
    double against, against_holm; /* for its opposite */
    double ci_low, ci_high;       /* the 1 - 2 alpha interval of the effect, which is the one that
                                     one-sided tests at alpha look at */
    enum claim_end verdict;
    const char *why; /* it is undecided; "" */
};

/* One state of the claims (grid/claimfile.h) judged by the results there are. */
struct claim_verdicts {
    int n;
    struct claim_verdict *item;
    const struct claims_version *version;
};

/* A claim from its normal form, and its contrast in these results. */
peat_status claim_effects(struct claim *c, struct effects *x, const struct results *r,
                          const struct value *v, struct arena *a, struct error *err);

peat_status claims_judge(struct claim_verdicts *v, const struct results *r,
                         const struct claims_version *version, struct arena *a, struct error *err);
/* The claims as they are now, and as they were before the first result where that differs: `first`
 * is NULL in v->version when it does not. v->n is 0 when there are no claims. */
struct claim_history {
    struct claim_verdicts now, first;
    bool late; /* there were results when the first claims were written */
};
peat_status claims_history(struct claim_history *h, const struct results *r, struct arena *a,
                           struct error *err);

/* "concat_split - sum < -0.01" */
const char *claim_words(const struct claim_verdict *v, struct arena *a);

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

#endif
