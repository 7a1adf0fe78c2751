/* SPDX-License-Identifier: MIT */
/*
 * startjoin.h: a model with the combination `sum` that computes what a cell with `concat_split`
 * or `concat_overlap` did: [x; p] = [x; 0] + [0; p], so that each table is filled up with zeros to
 * the model's width, where the streams of others stand.
 */
#ifndef CELL_STARTJOIN_H
#define CELL_STARTJOIN_H

#include "cell/start.h"
#include "model/safetensors.h"

/* All weights of the model. PEAT_INVALID when the two would not compute the same: other settings,
 * or a stream without a table. */
peat_status start_join(struct assembly *s, const struct cell_config *c,
                       const struct weight_start *start, const struct safetensors *f,
                       struct arena *a, struct error *err);

/* startapply.c: the tensor `name` of `path` into the weight, when it has memory. PEAT_REFUSED: it
 * has another shape. */
peat_status start_set(struct weight *w, const char *path, const char *name, const struct tensor *t,
                      struct error *err);

#endif
