/* SPDX-License-Identifier: MIT */
/* forward.h: from a batch to logits, in training and in evaluation alike. */
#pragma once

#include "train/trainer.h"

/* The batch as an input of the model. */
struct model_input forward_input(const peat_batch *b, peat_phase phase);
/* A fresh graph in the step arena and the logits of one input, which live until the arena is
 * rewound. `what` names the pass in messages: "step 12". */
peat_status forward_run(struct trainer *t, struct graph *g, const struct model_input *in,
                        peat_node **logits, const char *what, struct error *err);
/* The same, and the logits of classes, [B, n], of a model that predicts both tokens and classes;
 * otherwise NULL. reuse: the graph may drop values that only a backward reads. */
peat_status forward_both(struct trainer *t, struct graph *g, const struct model_input *in,
                         bool reuse, peat_node **logits, peat_node **classes, const char *what,
                         struct error *err);
/* PEAT_OK, or the first error of the graph. */
peat_status forward_status(const struct graph *g, const char *what, struct error *err);
