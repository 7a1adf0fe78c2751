/* SPDX-License-Identifier: MIT */
/* input.h: from token ids and positions to the model's input; the only caller of encode and
 * merge. */
#ifndef MODEL_INPUT_H
#define MODEL_INPUT_H

#include "model/transformer.h"

/* Declares the token and segment tables, once the widths of their streams are settled. */
void input_declare(struct model *m);
/* x times the factor by which rows of tokens enter. */
peat_node *input_scaled(const struct model *m, struct graph *g, peat_node *x);
/* -> [B,T,D] */
peat_node *input_forward(struct model *m, struct pass *pass, const struct model_input *in);
/* Merges the stream of a scheme that enters elsewhere into x [B,T,D]: pass->merge. */
peat_node *input_merge(struct pass *pass, int index, peat_node *x);

#endif
