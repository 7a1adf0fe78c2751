/* SPDX-License-Identifier: MIT */
/* batch_tensors.h: a batch as named tensors, for other programs (docs/checkpoint.md, "Batches"). */
#pragma once

#include "model/safetensors.h"
#include "train/task.h"

enum { BATCH_TENSORS = 16 + PEAT_MAX_STREAMS };

/* The arrays that the batch has, as `prefix`<name>: ids, targets and flags as I32, numbers as F32,
 * sequences and positions as F64. Returns how many, at most BATCH_TENSORS; -1: no memory. Names and
 * what is converted are in the arena, other data is the batch's. */
int batch_tensors(const struct task *t, const peat_batch *b, const char *prefix, struct arena *a,
                  struct named_tensor out[BATCH_TENSORS]);
