/* SPDX-License-Identifier: MIT */
/* sourcecell.h: a finished cell of another run, whose weights are read. */
#pragma once

#include "base/base.h"

struct source_cell {
    const char *weights;  /* the path of its final model.safetensors */
    const char *sha256;   /* that its result is sealed with          */
    struct value *config; /* config.json                             */
};

/* name: a cell's id or label, or the start of its hash. It has finished, and all its files are
 * those that its result was sealed with. */
peat_status source_cell_find(const char *run, const char *name, struct arena *a,
                             struct source_cell *cell, struct error *err);
