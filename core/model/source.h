/* SPDX-License-Identifier: MIT */
/* source.h: the encoder of a model of two sequences, and its decoder's pass across to it. */
#pragma once

#include "model/transformer.h"

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
