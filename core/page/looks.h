/* SPDX-License-Identifier: MIT */
/* looks.h: the schemes of a grid, and the table that each makes of positions before training. */
#ifndef PAGE_LOOKS_H
#define PAGE_LOOKS_H

#include "inspect/scheme_table.h"
#include "report/results.h"

enum { LOOKS_MAX = 32 };

/* A scheme with its parameters, as it stands in some cell. */
struct look {
    const char *title; /* "rotary base=500" */
    struct scheme_request request;
};

/* Each once, at the sizes of the first cell that has it. Returns how many. */
int looks_list(const struct results *r, struct arena *a, struct look look[LOOKS_MAX]);
/* Runs the plugin, in another process. False: there is no table, and *why says why. */
bool look_table(struct look *look, struct arena *a, struct scheme_table *t, const char **why);

#endif
