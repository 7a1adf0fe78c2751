/* SPDX-License-Identifier: MIT */
/* batch.h: the arrays of a batch, which are rows of one table, and an empty batch. */
#pragma once

#include "train/task.h"

/* An empty batch with the allocated sizes, to be filled by a task. */
void batch_offer(struct batch *batch);
