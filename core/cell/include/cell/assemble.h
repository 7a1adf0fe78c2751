/* SPDX-License-Identifier: MIT */
/* assemble.h: from a cell's configuration to a task and a model that can run. */
#pragma once

#include "cell/cell.h"
#include "model/transformer.h"
#include "train/task.h"

struct assembly {
    struct trail *trail;   /* set before assemble; NULL: not recorded */
    const peat_host *host; /* set before assemble; NULL: the engine's */
    struct task task;
    struct positional positional;
    struct model model;
    const char *started; /* set by start_apply: "A; B", the sources of weights that are not
                          * drawn; NULL: all are drawn */
};

/* Sets the task up, then builds the model with its positional. Weights are as drawn; start_apply
 * (start.h) sets those that come from files. shape_only: a plan, without memory for weights.
 * `arena` lives as long as the assembly. A refusal by a plugin is placed where the experiment names
 * the plugin and keeps its status, so that callers can distinguish PEAT_REFUSED from a mistake. */
peat_status assemble(struct assembly *s, const struct cell_config *c, struct arena *arena,
                     peat_dtype dtype, bool shape_only, struct error *err);

/* The values that plugins chose for automatic parameters: {"learned.max_len": 128}; for a scheme
 * that occurs twice, {"position.1.learned.max_len": 64}. */
struct value *assembly_resolved(const struct assembly *s, struct arena *a);
