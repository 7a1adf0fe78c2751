/* SPDX-License-Identifier: MIT */
/* begin.h: what a forward pass over one sequence begins with. */
#ifndef MODEL_BEGIN_H
#define MODEL_BEGIN_H

#include "model/transformer.h"

/* Begins a pass over `in` with the schemes of p. pass->observer and pass->collect stay. */
void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in);
/* Calls own_positions and prepare of the schemes that act: across two sequences, of those with
 * where.across. */
void pass_prepare(struct pass *pass);

#endif
