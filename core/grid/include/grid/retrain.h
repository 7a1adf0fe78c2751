/* SPDX-License-Identifier: MIT */
/*
 * retrain.h: cells trained once more, elsewhere, to see whether the same bits come out.
 */
#pragma once

#include "grid/verify.h"

enum retrain_verdict {
    RETRAIN_SAME,
    RETRAIN_CLOSE, /* of an earlier arithmetic, and its values differ by RETRAIN_NEAR at most */
    RETRAIN_DIFFERS,
    RETRAIN_NOT_COMPARABLE, /* other kernels, libraries or another build than then */
    RETRAIN_FAILED,         /* it did not end */
    RETRAIN_VERDICTS
};
#define RETRAIN_NEAR 0.01 /* of a value */
extern const char *const retrain_verdict_name[RETRAIN_VERDICTS];

struct retrained {
    const char *cell; /* its label */
    enum retrain_verdict verdict;
    const char *text; /* "its weights differ"; "" when the same */
};

struct retraining {
    int64_t count, seed, threads; /* how many cells; all when there are fewer */
    const struct value *moved;    /* map: dotted key -> where those data lie now; NULL: none */
    /* filled by retrain_cells */
    int n;
    struct retrained *item;
    bool interrupted;
};

/* Trains finished cells, chosen by the seed, in a directory below TMPDIR that is removed at the
 * end, and compares weights, the training's curve and the final values bit for bit; of a cell of an
 * earlier arithmetic (cell/cell.h) the final values, by size. `program` is the path of peat. */
peat_status retrain_cells(const struct verification *v, struct retraining *t, const char *program,
                          struct error *err);
