/* SPDX-License-Identifier: MIT */
/* input.h: from token ids and positions to the model's input; the only caller of encode and
 * merge. */
#pragma once

#include "model/transformer.h"

/* Declares the tables of the streams, whose widths are known, and of the class token. */
void input_declare(struct model *m);
/* -> [B,T,D] */
peat_node *input_forward(struct model *m, struct pass *pass, const struct model_input *in);
/* Merges the stream of a scheme that enters after the input into x [B,T,D]: pass->merge. */
peat_node *input_merge(struct pass *pass, int index, peat_node *x);
/* Number of places of a class token that no scheme sees: 0 or 1. */
int64_t class_token_front(const struct model_config *c);
/* The input with a class token before each row. Its id is V, and it is special and not padding.
 * False: the graph failed. */
bool class_token_place(struct graph *g, const struct model *m, const struct model_input *in,
                       struct model_input *out);
