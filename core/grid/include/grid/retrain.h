/* SPDX-License-Identifier: MIT */
/* retrain.h: trains cells once more, elsewhere, to see whether they give the same bits. */
#pragma once

#include "grid/verify.h"

enum retrain_verdict {
    RETRAIN_SAME,  /* every bit */
    RETRAIN_CLOSE, /* trained with an earlier arithmetic, and its values differ by at most
                    * RETRAIN_NEAR */
    RETRAIN_DIFFERS,
    RETRAIN_NOT_COMPARABLE, /* bits differ, as do the kernels, libraries, build or program that
                             * trained the cell */
    RETRAIN_FAILED,         /* the training did not end */
    RETRAIN_VERDICTS
};
#define RETRAIN_NEAR 0.01 /* relative difference of a value */
extern const char *const retrain_verdict_name[RETRAIN_VERDICTS];

struct retrained {
    const char *cell; /* label of the cell */
    enum retrain_verdict verdict;
    const char *text; /* "its weights differ"; "" when they are the same */
};

struct retraining {
    int64_t count, seed, threads; /* number of cells; all when the run has fewer */
    const struct value *moved;    /* map: dotted key -> present path of those data; NULL: not
                                   * moved */
    /* set by retrain_cells */
    int n;
    struct retrained *item;
    bool interrupted;
};

/* Trains finished cells, chosen by the seed, in a directory below TMPDIR that is removed at the
 * end, and compares weights, the training's curve and the final values bit for bit. For a cell of
 * an earlier arithmetic (cell/cell.h) it only compares how far final values differ. `program` is
 * the path of peat. */
peat_status retrain_cells(const struct verification *v, struct retraining *t, const char *program,
                          struct error *err);
