/* SPDX-License-Identifier: MIT */
/*
 * attention_fetch.h: asking for memory before it is read or written.
 *
 * The rows of a head lie far apart, where the processor does not guess what comes next. So each
 * block of queries asks for as many rows of the next task's operands, and for those of its own
 * results. Nothing but time depends on it.
 */
#ifndef AUTOGRAD_ATTENTION_FETCH_H
#define AUTOGRAD_ATTENTION_FETCH_H

#include "attention_tile.h"

/* out or dout [B,T,H,C] as [B,H,T,C]. */
struct tensor attention_heads_first(const struct tensor *out);
/* The rows of x [B,H,T,C] that the next task has where the tile stands. */
void attention_fetch_next(const struct attention_tile *t, const struct tensor *x);
/* The tile's own rows of x, to be written; data NULL: there is none. */
void attention_fetch_result(const struct attention_tile *t, const struct tensor *x);

#endif
