/* SPDX-License-Identifier: MIT */
/*
 * kinds.h: the kinds of machines on which cells were computed, and whether a comparison crosses
 * them.
 *
 * Cells are of one kind when everything that decides bits, apart from the configuration, is the
 * same: engine, provider, libraries and kernels of products, libm, compiler, build. A comparison of
 * one seed with the same seed crosses kinds when its cells differ in that.
 */
#pragma once

#include "report/table.h"

struct machine_kind {
    const char *text;  /* the keys in which kinds differ: "blas_core Haswell" */
    const char *hosts; /* "node1, node2" */
    int n;             /* number of cells */
};

struct kinds {
    int n;
    struct machine_kind *kind;
    int crossed, seeds; /* number of seeds that cross kinds, of `seeds` with cells that count */
};

/* Finds the kinds of the cells that count in these rows. */
void kinds_find(struct kinds *k, const struct results *r, int n_row, const struct result_row *row,
                struct arena *a);
/* Adds a note on the kinds to a table where a comparison crosses them. */
void kinds_note(struct table *t, const struct kinds *k);
