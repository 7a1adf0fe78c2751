/* SPDX-License-Identifier: MIT */
/*
 * claim.h: a claim of the experiment file, about the pooled difference A - B of a contrast or of
 * two rows, or about how the difference of a contrast changes along an axis.
 *
 * Its normal form, as the run directory keeps it, has the members of its contrast's (contrast.h),
 * those of its change's (change.h) if it has one, and text, direction, margin, alpha, test and,
 * where given, expect, weight and sampled; where seeds are added until the claims are decided also
 * looks: [N, ...], spending and share. Without a metric the claim is about the task's main one.
 */
#pragma once

#include "experiment/change.h"

enum claim_direction {
    CLAIM_LESS,    /* A - B < -margin */
    CLAIM_GREATER, /* A - B > margin  */
    CLAIM_EQUAL    /* |A - B| < margin */
};
extern const char *const claim_directions[]; /* words for enum claim_direction, ended by NULL */
extern const char *const claim_tests[];      /* allowed words for `test`, ended by NULL */
extern const char *const claim_spendings[];  /* allowed words for `spending`, ended by NULL */

enum claim_sampled {
    SAMPLED_SEEDS,          /* the test text is fixed, and the same for all cells      */
    SAMPLED_SEEDS_AND_TEXT, /* the test text is a sample too (maths/crossed.h): test t */
};
extern const char *const claim_samples[]; /* words, ended by NULL */

struct claim {
    const char *name, *text; /* text: "" when not given */
    struct contrast contrast;
    struct change change;
    enum claim_direction direction;
    double margin, alpha;
    const char *test;               /* a word of claim_tests */
    int n_look;                     /* number of looks; 0: the claim is judged once, with Holm's
                                     * correction */
    int look[EXPERIMENT_MAX_LOOKS]; /* numbers of seeds at which it is judged, until it is
                                     * decided */
    int spending;                   /* index of a word of claim_spendings */
    double share;                   /* the share of alpha that its looks spend */
    double expect;                  /* the effect that seeds are planned for; NaN: not given */
    enum claim_sampled sampled;
};

/* Reads the normal form. PEAT_CORRUPT: it does not fit these axes. */
peat_status claim_from_value(struct claim *c, const struct value *v, const struct labelled *axes,
                             struct error *err);
