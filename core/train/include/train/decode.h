/* SPDX-License-Identifier: MIT */
/*
 * decode.h: greedy answers, as if each token were made from those before it.
 *
 * A causal model's choice at a place depends on the tokens up to it alone. So an answer that the
 * model, given that answer, would choose at every place is the greedy one. One pass over whole rows
 * is given a draft (at first the truth) and shows the model's choice at every place: up to and with
 * the first place where the two differ the choices are final, and what it chose behind is the next
 * draft (fixed-point decoding: Santilli et al. 2023, "Accelerating Transformer Inference for
 * Translation via Parallel Decoding", algorithm 1). An answer of n tokens takes at most n passes,
 * and one when the model answers with the truth. This holds for every scheme that is causal,
 * whatever it makes of content, length or its own state.
 */
#ifndef TRAIN_DECODE_H
#define TRAIN_DECODE_H

#include "train/trainer.h"

/* The greedy answers of a batch with a prompt into made [B, answer]. The trainer's step arena is
 * left as it was. An encoder, whose choices see what follows, gets a token at a time. */
peat_status decode_greedy(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err);
/* The same, a token at a time: the plain reference. */
peat_status decode_by_token(struct trainer *t, const peat_batch *b, int32_t *made,
                            struct error *err);

#endif
