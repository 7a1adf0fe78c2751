/* SPDX-License-Identifier: MIT */
/* passes.h: the parts of a model's forward pass. */
#pragma once

#include "model/transformer.h"

/* ---- begin.c: the first steps, over one sequence ---- */

/* Begins a pass over `in` with the schemes of p. Keeps pass->observer and pass->collect. */
void pass_init(struct pass *pass, struct model *m, struct positional *p, const peat_dims *dims,
               struct graph *g, const struct model_input *in);
/* Sets the positions of `in`, whose sequence is the pass's side, changed by the schemes in YAML
 * order. class_first: the side has one more place, a class token at position 0 of every axis, and
 * other positions are counted from 1. False: the graph failed. */
bool positions_fill(struct pass *pass, const struct model_input *in, bool class_first);

/* ---- input.c: from token ids and positions to the input; calls encode and merge ---- */

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

/* ---- source.c: the encoder of a model of two sequences, and the pass across to it ---- */

/* Prefix of the names of the encoder's weights. */
#define SOURCE_PREFIX "encoder."

/* Sets up the encoder's schemes and combination like the decoder's; allocates m->encoder. */
peat_status source_setup(struct model *m, struct error *err);
/* The crossing of the decoder's pass, which has begun. Runs the encoder over the sources of `in`,
 * unless source_store ran it. */
struct crossing source_cross(struct model *m, struct pass *pass, const struct model_input *in);
/* Runs the encoder once for all rows of the decoder, into s->source and s->memory, which live as
 * long as the graph's arena. */
bool source_store(struct model *m, struct graph *g, const struct model_input *in, struct stored *s);
