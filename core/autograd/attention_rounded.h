/* SPDX-License-Identifier: MIT */
/*
 * attention_rounded.h: the tasks of fused attention with products of bf16, of F32 alone: operands
 * are rounded and packed once per task.
 */
#ifndef AUTOGRAD_ATTENTION_ROUNDED_H
#define AUTOGRAD_ATTENTION_ROUNDED_H

#include "attention_tile.h"

/* Bytes that a thread packs into, 0 for a call that does not round. */
size_t attention_packed_bytes(const struct attention *c, bool backward);
void attention_forward_rounded(void *call, int64_t task);
void attention_backward_rounded(void *call, int64_t slot);

#endif
