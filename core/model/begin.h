/* SPDX-License-Identifier: MIT */
/* begin.h: what a forward pass over one sequence begins with. */
#ifndef MODEL_BEGIN_H
#define MODEL_BEGIN_H

#include "model/transformer.h"

/* A pass over `in` by the schemes of p; who watches it and whether it collects is kept. */
void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in);
/* Calls own_positions and prepare: of all schemes, or across two sequences of those that act there.
 */
void pass_prepare(struct pass *pass);

#endif
