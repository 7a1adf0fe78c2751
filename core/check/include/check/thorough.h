/* SPDX-License-Identifier: MIT */
/* thorough.h: drawn cases one after another, in processes of their own, and the smallest one that
 * fails. */
#pragma once

#include "check/checkchild.h"

enum { THOROUGH_JOBS = 64 }; /* at most */

struct thorough {
    uint64_t seed;
    double seconds;
    int jobs; /* processes at a time; they change what is tried, and not which case is found */
    int64_t tried, refused;
    /* When a case failed: */
    int64_t index;              /* of it, among those of the seed           */
    struct check_report report; /* of the smallest one; passed: none failed */
    const char *text;           /* cases.h                                  */
    int n_setting;
    char *const *setting; /* all of them, those of the request in front */
};

/* Tries cases until `seconds` are over or one fails. The first case that fails, in the order of
 * cases and not of time, is then made smaller. */
peat_status thorough_run(struct thorough *t, const struct check_request *q, struct arena *a,
                         struct error *err);
