/* SPDX-License-Identifier: MIT */
/* head.h: from the last norm to logits, of tokens or of classes. */
#pragma once

#include "model/transformer.h"

/* Declares the head's weight, unless the head uses the token table. */
void head_declare(struct model *m);
/* x [B,T,D] (normed; with a class token's place if there is one) -> logits with the shapes of
 * model_forward. */
peat_node *head_forward(struct model *m, struct pass *pass, const struct model_input *in,
                        peat_node *x);
