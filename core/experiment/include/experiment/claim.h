/* SPDX-License-Identifier: MIT */
/*
 * claim.h: a claim of the experiment file, about the pooled difference A - B of a contrast or of
 * two rows.
 *
 * Its normal form, as the run directory keeps it, is that of its contrast (contrast.h) and text,
 * direction, margin, alpha, test and, where given, expect. Without a metric it is about the task's
 * main one.
 */
#ifndef EXPERIMENT_CLAIM_H
#define EXPERIMENT_CLAIM_H

#include "experiment/contrast.h"

enum claim_direction {
    CLAIM_LESS,    /* A - B < -margin */
    CLAIM_GREATER, /* A - B > margin  */
    CLAIM_EQUAL    /* |A - B| < margin */
};
extern const char *const claim_directions[]; /* words, ended by NULL */
extern const char *const claim_tests[];      /* likewise */

struct claim {
    const char *name, *text; /* text: "" when not given */
    struct contrast contrast;
    enum claim_direction direction;
    double margin, alpha;
    const char *test; /* a word of claim_tests */
    double expect;    /* the A - B that seeds are planned for; NaN: not given */
};

/* From its normal form. PEAT_CORRUPT: it does not fit these axes. */
peat_status claim_from_value(struct claim *c, const struct value *v, const struct labelled *axes,
                             struct error *err);

#endif
