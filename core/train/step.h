/* SPDX-License-Identifier: MIT */
/* step.h: one training step. */
#pragma once

#include "train/trainer.h"

/* The measurements of one step. */
struct outcome {
    double loss, lr, grad_norm;
};

/* Takes the next step. False: the error is set; divergence is no error. */
bool trainer_step(struct trainer *t, struct outcome *out, struct error *err);
