/* SPDX-License-Identifier: MIT */
/*
 * foreigntraining.h: a training that another program did of a cell, as `python3 -m peat.torch
 * train` writes it: a safetensors file of the weights and of AdamW's second moments
 * ("opt.v.<name>"), with "peat_trained" in its metadata (docs/checkpoint.md, "Trained elsewhere").
 */
#pragma once

#include "cell/cellmetrics.h"

struct foreign_training {
    const char *by;            /* the program, "PyTorch 2.1.0, cuda" */
    const struct value *curve; /* [[step, loss, rate, norm of the gradient], ...] */
    double last_loss;
};

/* Fills the weights, the second moments and the state of a trainer at its start with those of the
 * file, which is of the cell with this hash and of all its steps. Texts are in the arena.
 * PEAT_INVALID and PEAT_CORRUPT: it is not such a file. */
peat_status foreign_training_read(const char *path, const char *hash, struct trainer *t,
                                  struct arena *a, struct foreign_training *f, struct error *err);
/* Writes its curve. */
void foreign_training_curve(const struct foreign_training *f, const struct trainer *t,
                            struct cell_metrics *m);
