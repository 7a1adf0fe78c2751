/* SPDX-License-Identifier: MIT */
/*
 * claim.h: a claim of the experiment file, about the pooled difference A - B of a contrast or of
 * two rows, or about how that of a contrast changes along an axis.
 *
 * Its normal form, as the run directory keeps it, is that of its contrast (contrast.h), that of its
 * change (change.h) where it has one, and text, direction, margin, alpha, test and, where given,
 * expect, weight and sampled; where seeds are added until the claims are decided also looks: [N,
 * ...], spending and share. Without a metric it is about the task's main one.
 */
#pragma once

#include "experiment/change.h"

enum claim_direction {
    CLAIM_LESS,    /* A - B < -margin */
    CLAIM_GREATER, /* A - B > margin  */
    CLAIM_EQUAL    /* |A - B| < margin */
};
extern const char *const claim_directions[]; /* words, ended by NULL */
extern const char *const claim_tests[];      /* likewise */
extern const char *const claim_spendings[];  /* likewise */

enum claim_sampled {
    SAMPLED_SEEDS,          /* the test text is one, and the same for all              */
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
    int n_look;                     /* 0: it is judged once, with Holm's correction */
    int look[EXPERIMENT_MAX_LOOKS]; /* seeds at which it is judged, until it is decided */
    int spending;                   /* of claim_spendings */
    double share;                   /* of alpha, that the looks spend */
    double expect;                  /* the effect that seeds are planned for; NaN: not given */
    enum claim_sampled sampled;
};

/* Of a normal form: of its share of alpha. */
double claim_weight(const struct value *v);
/* From its normal form. PEAT_CORRUPT: it does not fit these axes. */
peat_status claim_from_value(struct claim *c, const struct value *v, const struct labelled *axes,
                             struct error *err);
