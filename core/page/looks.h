/* SPDX-License-Identifier: MIT */
/* looks.h: the schemes of a grid, and the table that each makes of positions, before training and
 * after it. */
#ifndef PAGE_LOOKS_H
#define PAGE_LOOKS_H

#include "inspect/scheme_table.h"
#include "report/results.h"

enum { LOOKS_MAX = 32 };

/* A scheme with its parameters, as it stands in some cell. */
struct look {
    const char *title; /* with every parameter: "rotary base=500 fraction=1" */
    const char *name;  /* with those that other looks of the scheme have differently: "rotary" */
    struct scheme_request request;
    const struct cell_files *cell; /* finished, with the scheme; NULL: there is none */
    int scheme;                    /* which of the cell's it is                      */
};

/* Each once, at the sizes of the first cell that has it. Returns how many. */
int looks_list(const struct results *r, struct arena *a, struct look look[LOOKS_MAX]);

/* What a scheme looks like. */
struct scheme_look {
    int64_t heads; /* that it has; the table holds the first of them */
    struct scheme_table table;
    const struct scheme_table *before; /* training; table is then of look->cell, after it; NULL:
                                          the table is that of a scheme that was not trained, or
                                          that training leaves as it is */
    const char *numbers;               /* the page of inspect/describe.h; "": there is none */
};

/* Opens look->cell, or runs the plugin alone where that cannot be, in another process, which
 * multiplies and describes too: this one loads neither plugins nor libraries. False: there is
 * nothing to see, and *why says why. */
bool look_see(struct look *look, struct arena *a, struct scheme_look *seen, const char **why);

#endif
