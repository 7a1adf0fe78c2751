/* SPDX-License-Identifier: MIT */
/*
 * schemefile.h: schemes.json of a run directory: drawings of the schemes that were trained.
 *
 * Only a scheme's own code can compute its table. peat.inspect.drawings of the Python package asks
 * the program for it and keeps the tables here, so that readers of the directory run no plugin
 * code.
 */
#pragma once

#include "base/base.h"

enum { DRAWING_VALUES_MAX = 1 << 17, DRAWINGS_MAX = 32 };

/* The drawing of one scheme with its parameters. */
struct scheme_drawing {
    const char *title; /* with every parameter: "rotary base=500 fraction=1" */
    const char *name;  /* with the parameters in which the scheme's drawings differ: "rotary" */
    int64_t width, model_heads;       /* sizes of the model                              */
    const char *id, *label, *weights; /* a finished cell with the scheme, and weights_hash of its
                                       * result; NULL: no such cell */
    const char *why;                  /* why nothing is drawn; NULL: it is drawn         */
    bool again;                       /* the reason is not the scheme's: drawing is tried again */
    const char *what;                 /* "stream", "bias", or another table's name       */
    const char *numbers;              /* the page of `peat inspect --describe`; "": no page */
    int64_t all_heads;                /* number of heads that the scheme has; the table holds the
                                       * first of them */
    int64_t heads, rows, columns;     /* heads 0: one table for all heads                */
    float *value;                     /* [heads or 1, rows, columns]                     */
    float *before;                    /* the table before training, where `value` is the cell's
                                       * after it; NULL: `value` is from initial weights of seed
                                       * 0 */
};

struct scheme_drawings {
    int n;
    struct scheme_drawing *item;
};

static inline int64_t drawing_values(const struct scheme_drawing *d)
{
    return (d->heads ? d->heads : 1) * d->rows * d->columns;
}

/* PEAT_NOTFOUND: the directory has no schemes.json. PEAT_CORRUPT: the file is damaged. */
peat_status scheme_drawings_read(const char *dir, struct scheme_drawings *all, struct arena *a,
                                 struct error *err);
