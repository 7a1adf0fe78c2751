/* SPDX-License-Identifier: MIT */
/* step.h: one training step. */
#pragma once

#include "train/trainer.h"

/* The measurements of one step. */
struct outcome {
    double loss, lr, grad_norm;
};

/* A loss far above the first for so many steps ends the run. */
enum { DIVERGED_STEPS = 50 };

/* Takes the next step by PEAT's own engine. A step whose numbers are not finite changes no weight.
 * False: the error is set; divergence is no error. */
bool trainer_step(struct trainer *t, struct outcome *out, struct error *err);
