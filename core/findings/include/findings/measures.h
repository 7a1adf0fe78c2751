/* SPDX-License-Identifier: MIT */
/*
 * measures.h: the numbers of one diagnosis (docs/diagnostics.md, "The JSON form") that are worth
 * comparing between cells, by name.
 */
#pragma once

#include "base/base.h"

enum { MEASURE_PARTS = 64 }; /* layers or blocks that are looked at */

/*
 * Paths lead from the diagnostic's map to a number: "start/ratio"; a number is an item of a list,
 * and "*" the mean over its items.
 */
struct measure {
    const char *name;       /* "position_r2"                                             */
    const char *head;       /* of a column: "position R²"                                */
    const char *diagnostic; /* that it is from; NULL: the head of the diagnosis          */
    const char *list;       /* path of a list with an item for each part; NULL: one number */
    const char *part;       /* member that numbers a part: "layer"; also what a part is called */
    const char *key;        /* path of the number, from the diagnostic or the item       */
    const char *chance;     /* path, from the diagnostic, of what chance gives; NULL: unknown */
    bool usual;             /* shown without being asked for; of a list its first and last part */
    const char *meaning;    /* one line */
};
/* Ended by a NULL name. */
extern const struct measure measures[];

/* One number of a measure. */
struct measured {
    int64_t part; /* number of the layer, first dimension of the block; -1: there are none */
    double value, chance; /* NaN: none */
};

/* Reads the numbers of one diagnosis; returns how many, at most MEASURE_PARTS. */
int measure_read(const struct measure *m, const struct value *diagnosis,
                 struct measured out[MEASURE_PARTS]);
/* NULL: there is none, and *err has the nearest name. */
const struct measure *measure_find(const char *name, const char *what, struct error *err);
