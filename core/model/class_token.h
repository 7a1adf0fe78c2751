/* SPDX-License-Identifier: MIT */
/* class_token.h: the token that a model puts before a sequence to tell its class. */
#ifndef MODEL_CLASS_TOKEN_H
#define MODEL_CLASS_TOKEN_H

#include "model/transformer.h"

/* Declares the token and, with cls_position: own, a row for each stream of positions. */
void class_token_declare(struct model *m);
/* How many places it takes that no scheme sees: 0 or 1. */
int64_t class_token_front(const struct model_config *c);
/* The input with a place for it before each row: its id is one beyond the vocabulary, it is special
 * and no padding. False: the graph failed. */
bool class_token_place(struct graph *g, const struct model *m, const struct model_input *in,
                       struct model_input *out);
/* The first row of a table there, [B,1,width]: of its own, or of the segments. */
peat_node *class_token_stream(struct model *m, struct pass *pass, struct weight *table);
/* What stands in the place of scheme `index`'s stream there, [1,1,d]. */
peat_node *class_token_position(struct model *m, struct pass *pass, int index);

#endif
