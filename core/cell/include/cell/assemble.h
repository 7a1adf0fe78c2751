/* SPDX-License-Identifier: MIT */
/* assemble.h: from a cell's configuration to a task and a model that can run. */
#pragma once

#include "cell/cell.h"
#include "model/transformer.h"
#include "train/task.h"

struct assembly {
    struct trail *trail; /* set before assemble; NULL: none */
    struct task task;
    struct positional positional;
    struct model model;
    const char *started; /* by start_apply: "A; B", what weights start from; NULL: drawn */
};

/* Task set-up, then the model with its positional. Weights are as drawn: start_apply (start.h)
 * gives those that start otherwise their values. shape_only: a plan, no memory for weights. `arena`
 * lives as long as the assembly. A refusal by a plugin is placed where the plugin is named in the
 * experiment and keeps its status, so that PEAT_REFUSED can be told from a mistake. */
peat_status assemble(struct assembly *s, const struct cell_config *c, struct arena *arena,
                     peat_dtype dtype, bool shape_only, struct error *err);

/* The values that plugins chose for automatic parameters: {"learned.max_len": 128}; for a scheme
 * that is listed twice, {"position.1.learned.max_len": 64}. */
struct value *assembly_resolved(const struct assembly *s, struct arena *a);
/* place_error with the status of `inner`, which it returns. */
peat_status place_failure(struct error *err, struct place at, const struct error *inner);
