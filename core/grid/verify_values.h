/* SPDX-License-Identifier: MIT */
/*
 * verify_values.h: a result, compared with the files written before it.
 *
 * metrics.jsonl holds each measured value at the step at which it was measured, and the final
 * checkpoint how training ended: a value that was changed in result.json alone contradicts them.
 */
#pragma once

#include "grid/verify.h"

/* Lines of metrics.jsonl are whole and sealed, steps rise, nothing is measured twice, and the final
 * values and the last step are those of result.json. */
void verify_curve(struct verification *v, const struct cell_files *c);
/* The cell ended where its configuration or its divergence says. */
void verify_end(struct verification *v, const struct cell_files *c);
/* state: of the checkpoint that the cell ended with. */
void verify_state(struct verification *v, const struct cell_files *c, const struct value *state);
