/* SPDX-License-Identifier: MIT */
/* begin.h: the first steps of a forward pass over one sequence. */
#pragma once

#include "model/transformer.h"

/* Begins a pass over `in` with the schemes of p. pass->observer and pass->collect keep their
 * values. */
void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in);
/* Sets the positions of `in`, whose sequence is the pass's side, changed by the schemes in YAML
 * order. class_first: the side has one more place, a class token at position 0 of every axis, and
 * other positions are counted from 1. False: the graph failed. */
bool positions_fill(struct pass *pass, const struct model_input *in, bool class_first);
