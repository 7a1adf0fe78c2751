/* SPDX-License-Identifier: MIT */
/*
 * trunk.h: steps that cells share because they differ only in train.steps, with schedule: wsd.
 *
 * Such cells compute the same bits until the decay of the shortest begins. Those of one plan form a
 * trunk: a cell saves its state where another one's decay begins, and a cell that starts continues
 * from the furthest such state that is not beyond its own constant part.
 *
 *   <run>/trunks/<start of the hash>/step-00001200/   a generation (train/checkpoint.h) and the
 *                                                     metrics.jsonl of its steps
 *
 * Cells with patience have no trunk: their evaluations decide when they end. A state from another
 * plugin, engine or library is refused, as a checkpoint is; then the cell trains the steps itself.
 */
#pragma once

#include "cell/cell.h"

/* "trunk" of a cell in plan.json and config.json: {"hash", "end", "cells": {id: end, ...}}: the
 * trunk's hash, the last step before the cell's decay, and the same step of all cells of the plan
 * that share the trunk, rising. Missing: it shares no steps. */
extern const struct field trunk_fields[];

/* The last step that the cell may share with longer ones; 0: it shares none. */
int64_t trunk_end(const struct cell_config *c);
/* The hash of everything that decides the weights and the curve up to that step; "" where trunk_end
 * is 0. identity: with the seed, as for the cell's own hash. */
void trunk_hash(const struct cell_config *c, const struct value *identity, struct arena *a,
                char hash[HASH_HEX]);

/* The folder of a trunk in a run directory, and the folder of a state in it, in the arena. */
const char *trunk_dir(const char *run, const char *hash, struct arena *a);
const char *trunk_state(const char *run, const char *hash, int64_t step, struct arena *a);
/* Whether cell `id` keeps its state after `step`, because another cell of the trunk can use it. */
bool trunk_keeps(const struct value *trunk, const char *id, int64_t step);
/* Removes the trunk's folder once every cell of it has a result. Undeletable files stay. */
void trunk_release(const char *run, const struct value *trunk, struct arena *a);
