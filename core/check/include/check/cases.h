/* SPDX-License-Identifier: MIT */
/*
 * cases.h: random configurations of a plugin, each of which a line of text makes again.
 *
 * Case `index` of a seed is the same on every machine. What it draws for the plugin's parameters
 * stands beside it as settings, "reach=3".
 */
#ifndef CHECK_CASES_H
#define CHECK_CASES_H

#include "check/check.h"

enum case_property {
    CASE_FINITE,
    CASE_CAUSALITY,
    CASE_BATCH,
    CASE_PADDING,
    CASE_PACKING,
    CASE_PREFIX,
    CASE_STORABLE,
    CASE_SHIFT,
    CASE_NORMS,
    CASE_PATHS,
    CASE_PURITY,
    CASE_GRADIENTS,
    CASE_BATCHES, /* of a task */
    CASE_PROPERTIES
};

struct check_case {
    int property; /* of enum case_property */
    bool encoder, training;
    int64_t width, heads, rows, length; /* width of a head; D is heads times that */
    int64_t place;                      /* < length: what changes begins there    */
    int64_t shift;                      /* of all positions                       */
    int64_t seed;                       /* of tokens and padding                  */
};

enum { CASE_SETTINGS = 32 };

/* What came of a run of cases, for the parent. */
struct cases_end {
    int64_t tried, refused; /* the plugin does not want the configuration */
    int64_t index;          /* of the one that failed, or would be next   */
    const char *text;       /* of it; NULL: none                          */
    int n_setting;
    const char *setting[CASE_SETTINGS];
};

/* "causality decoder width=4 heads=2 rows=1 length=6 place=3 shift=0 seed=17 training" */
const char *case_text(const struct check_case *c, struct arena *a);
peat_status case_parse(struct check_case *c, const char *text, struct error *err);
/* A simpler case, number k from 0; false: there are no more. Some are equal to c. */
bool case_smaller(const struct check_case *c, int k, struct check_case *smaller);

/* A check of s->cases: one case by its text, "at SEED INDEX" (the case is written to s->end and not
 * run), or "from SEED INDEX SECONDS": one after another until one fails or time is up. */
extern const struct check check_cases;

#endif
