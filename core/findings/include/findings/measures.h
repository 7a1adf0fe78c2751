/* SPDX-License-Identifier: MIT */
/*
 * measures.h: the numbers of one diagnosis (docs/diagnostics.md, "The JSON form") that are worth
 * comparing between cells, by name.
 */
#pragma once

#include "base/base.h"

enum { MEASURE_PARTS = 64 }; /* most layers or blocks that are read */

/*
 * Paths lead from the diagnostic's map to a number: "start/ratio"; a number is an item of a list,
 * and "*" the mean over its items.
 */
struct measure {
    const char *name;       /* "position_r2"                                             */
    const char *head;       /* head of its column                                        */
    const char *diagnostic; /* diagnostic that it is read from; NULL: the head of the diagnosis */
    const char *list;       /* path of a list with an item for each part; NULL: one number */
    const char *part;       /* member that numbers a part, "layer"; also the part's name in texts */
    const char *key;        /* path of the number, from the diagnostic or the item       */
    const char *chance;     /* path, from the diagnostic, of the value by chance; NULL: unknown */
    bool usual;             /* shown by default; of a list its first and last part */
    const char *meaning;    /* one line */
};
/* Ended by a NULL name. */
extern const struct measure measures[];

/* One number of a measure. */
struct measured {
    int64_t part; /* number of the layer, or first dimension of the block; -1: the measure has
                   * one number */
    double value, chance; /* NaN: no value */
};

/* Reads the numbers of one diagnosis; returns how many, at most MEASURE_PARTS. */
int measure_read(const struct measure *m, const struct value *diagnosis,
                 struct measured out[MEASURE_PARTS]);
/* NULL: no such measure, and *err has the nearest name. */
const struct measure *measure_find(const char *name, const char *what, struct error *err);
