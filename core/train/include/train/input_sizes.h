/* SPDX-License-Identifier: MIT */
/*
 * input_sizes.h: how large tokens and positions are where they meet, before the first block.
 *
 * The part of tokens is the output of the combination for the token stream with all others zero,
 * and the part of positions for the position streams, each less the output for no stream. For a sum
 * a x + b p these are a x and b p, for a concatenation the two parts of the width. A combination
 * that multiplies has no such parts: both are 0.
 */
#pragma once

#include "model/transformer.h"

/* Root mean squares over [B,T,D]. */
struct input_sizes {
    double token, position;
};

/* Sizes for one batch, computed as in evaluation. Nodes live in `arena` until the caller rewinds
 * it. Of the model's weights only those of the input need values (model_fill_input). */
peat_status input_sizes(struct model *m, const struct team *team, const peat_batch *b,
                        struct arena *arena, struct input_sizes *out, struct error *err);
/* token / position; NaN when either part is 0. */
double input_ratio(const struct input_sizes *s);
