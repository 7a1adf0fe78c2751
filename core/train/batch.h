/* SPDX-License-Identifier: MIT */
/* batch.h: the arrays of a batch, which are rows of one table: made empty. */
#pragma once

#include "train/task.h"

/* An empty batch of the size that there is memory for, as a task is given it to fill. */
void batch_offer(struct batch *batch);
