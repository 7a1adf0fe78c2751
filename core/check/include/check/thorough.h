/* SPDX-License-Identifier: MIT */
/* thorough.h: drawn cells one after another, in processes of their own, and the smallest one that
 * fails. */
#pragma once

#include "check/checkchild.h"

enum { THOROUGH_JOBS = 64 }; /* at most */

struct thorough {
    uint64_t seed;
    double seconds;
    int jobs; /* processes at a time; they change how many cells are tried, not which is found */
    int64_t tried;
    /* When a cell failed: */
    int64_t index;              /* its index in the cells of the seed */
    struct check_report report; /* report of the smallest cell that fails, whose text it has;
                                 * passed: none failed */
};

/* Tries cells until `seconds` are over or one fails. The first cell that fails, in the order of
 * cells and not of time, is then made smaller. */
bool thorough_run(struct thorough *t, const struct check_request *q, struct arena *a,
                  struct error *err);
