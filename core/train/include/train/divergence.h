/* SPDX-License-Identifier: MIT */
/* divergence.h: when a run is beyond saving; an outcome of the run, not an error. */
#ifndef TRAIN_DIVERGENCE_H
#define TRAIN_DIVERGENCE_H

#include "train/trainer.h"

/* Before the update of `step`: a loss or gradient that is not finite fills t->diverged. The graph
 * has been through its backward pass. */
bool divergence_check(struct trainer *t, struct graph *g, int64_t step, double loss,
                      double grad_norm);
/* After it: so does a loss that has been far above the first for too long. */
bool divergence_watch(struct trainer *t, int64_t step, double loss);

#endif
