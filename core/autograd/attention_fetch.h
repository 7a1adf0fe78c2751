/* SPDX-License-Identifier: MIT */
/*
 * attention_fetch.h: memory that fused attention asks for ahead.
 *
 * The rows of a head lie far apart, where the processor does not guess what comes next. So each
 * block of queries asks for as many rows of the next task's operands, and for those of its own
 * results.
 */
#ifndef AUTOGRAD_ATTENTION_FETCH_H
#define AUTOGRAD_ATTENTION_FETCH_H

#include "attention_tile.h"

/* An operand of the next task, and this one's gradient where there is one. */
void attention_fetch_queries(const struct attention_tile *t);
void attention_fetch_keys(const struct attention_tile *t);
void attention_fetch_values(const struct attention_tile *t);
/* Forward: the tile's own result. Backward: the next task's, and its gradient. */
void attention_fetch_outputs(const struct attention_tile *t);

#endif
