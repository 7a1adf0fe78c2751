/* SPDX-License-Identifier: MIT */
/*
 * identity.h: the settings and programs that decide the bits of a cell, as its checkpoints keep
 * them, and how they drifted.
 *
 * A drift is a change that the user allowed: {"step", "key", "from", "to"}, in a list that grows
 * with each one.
 */
#pragma once

#include "base/base.h"

/* The identity of a run with this meta.json and configuration. */
struct json identity_of(const struct value *meta, const char *hash, struct arena *a);
/* The first difference of two identities: "its libm is 'a', and this run's is 'b'", with only the
 * words that differ; NULL: they are equal. *may_drift: true unless the difference makes it another
 * cell, or is in a plugin file that is known. */
const char *identity_difference(const struct value *stored, const struct value *now,
                                bool *may_drift, struct arena *a);
/* A copy of the stored drifts, and an entry without a step for each present difference; NULL: there
 * are neither. */
struct value *identity_drift(const struct value *stored, const struct value *now, struct arena *a);
/* Sets this step in entries without a step, and logs them. */
void identity_drifted_at(struct value *drift, int64_t step, const struct log *log, struct arena *a);
/* Adds the settings of evaluation that belong to the identity of a cell with these settings: all of
 * them with train.patience, because evaluations then decide when training ends; otherwise only
 * eval.test, because it decides which data the curves are measured on. */
void put_eval_identity(struct json identity, const struct value *settings);
