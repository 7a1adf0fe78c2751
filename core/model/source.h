/* SPDX-License-Identifier: MIT */
/* source.h: the encoder of a model of two sequences, and how its decoder looks at it. */
#ifndef MODEL_SOURCE_H
#define MODEL_SOURCE_H

#include "model/transformer.h"

/* Of the names of its weights. */
#define SOURCE_PREFIX "encoder."

/* Sets the encoder's schemes and combination up, as the decoder's are; m->encoder is made. */
peat_status source_setup(struct model *m, struct error *err);
/* Runs the encoder over the sources of `in`. pass: the decoder's, which has begun; mask: room for
 * what lives as long as the crossing. */
struct crossing source_forward(struct model *m, struct pass *pass, const struct model_input *in,
                               struct attention_mask *mask);

/* Runs the encoder once for all rows that the decoder will make, into s->source and s->memory,
 * which live as long as the graph's arena. */
bool source_store(struct model *m, struct graph *g, const struct model_input *in, struct stored *s);
/* The crossing of a pass over new rows, whose graph outlives it. */
struct crossing source_stored(struct model *m, struct pass *pass, const struct model_input *in,
                              struct stored *s, struct attention_mask *mask);

#endif
