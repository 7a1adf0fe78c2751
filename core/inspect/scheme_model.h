/* SPDX-License-Identifier: MIT */
/* scheme_model.h: a scheme's tables for given tokens, in an untrained model of one layer. */
#pragma once

#include "inspect/scheme_table.h"
#include "plugin/registry.h"

/* Runs every hook, also those of the combination. Returns the requested table, or the first:
 * streams before biases before terms of the scores before nodes named for inspection. */
bool scheme_model_table(struct scheme_table *t, const struct scheme_request *q, struct registry *r,
                        const struct plugin *scheme, struct arena *a, struct error *err);
