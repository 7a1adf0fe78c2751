/* SPDX-License-Identifier: MIT */
/* batch.h: the arrays of a batch, which are rows of one table: made empty, and cut. */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include "train/task.h"

/* An empty batch of the size that there is memory for, as a task is given it to fill. */
void batch_offer(struct batch *batch);
/* Rows row[0 .. n-1] of a batch and their first T places, in the arena; false: no memory. */
bool batch_cut(struct arena *a, const peat_batch *b, int64_t n, const int64_t *row, int64_t T,
               peat_batch *part);

#endif
