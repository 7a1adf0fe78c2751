/* SPDX-License-Identifier: MIT */
/* positions.h: where the places of a batch are, as the schemes see them. */
#ifndef MODEL_POSITIONS_H
#define MODEL_POSITIONS_H

#include "model/transformer.h"

/* The positions of `in`, whose sequence the pass's side is, changed by the schemes in YAML order.
 * class_first: the side has one place more, a class token in front at position 0 of every axis, and
 * all others are counted from 1. False: the graph failed. */
bool positions_fill(struct pass *pass, const struct model_input *in, bool class_first);

#endif
