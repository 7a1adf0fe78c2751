/* SPDX-License-Identifier: MIT */
/* thorough.h: drawn cases one after another, in processes of their own, and the smallest one that
 * fails. */
#pragma once

#include "check/checkchild.h"

enum { THOROUGH_JOBS = 64 }; /* at most */

struct thorough {
    uint64_t seed;
    double seconds;
    int jobs; /* processes at a time; they change how many cases are tried, not which is found */
    int64_t tried, refused;
    /* When a case failed: */
    int64_t index;              /* index of the failed case in the cases of the seed */
    struct check_report report; /* report of the smallest case that fails; passed: none failed */
    const char *text;           /* text of that case (cases.h) */
    int n_setting;
    char *const *setting; /* settings of that case: those of the request, then the drawn ones */
};

/* Tries cases until `seconds` are over or one fails. The first case that fails, in the order of
 * cases and not of time, is then made smaller. */
bool thorough_run(struct thorough *t, const struct check_request *q, struct arena *a,
                  struct error *err);
