/* SPDX-License-Identifier: MIT */
/*
 * decode.h: greedy answers, each token chosen from those before it.
 *
 * There are three ways, with the same answers.
 *
 * Stored: a causal model's keys, values and layer inputs do not change when later tokens are added.
 * They are stored (nn/stored.h; an engine stores its own), and each token costs a pass over one
 * row. Products of few rows round differently from those of many rows, so logits differ from a
 * whole pass's in the last bits. Where the two highest logits are so near that this could change
 * the choice, a whole pass chooses.
 *
 * By fixed point, where rows of a scheme cannot be stored: an answer that a causal model, given
 * that answer, would choose at every place is the greedy one. One pass over whole rows is given a
 * draft (at first the truth) and shows the model's choice at every place: up to and including the
 * first place where the two differ the choices are final, and the choices after it are the next
 * draft (Santilli et al. 2023, "Accelerating Transformer Inference for Translation via Parallel
 * Decoding", algorithm 1). An answer of n tokens takes at most n passes.
 *
 * By token: a whole pass for every token. Tests compare the other two with it. An encoder has no
 * other way, because its choices depend on the tokens that follow.
 */
#pragma once

#include "train/trainer.h"

/* The greedy answers of a batch with a prompt into made [B, answer], in the fastest way that the
 * model allows. The trainer's step arena is left as it was. */
peat_status decode_greedy(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err);

/* The three ways. decode_stored needs a model for which model_not_storable returns NULL;
 * decode_by_fixed_point needs a causal model. */
peat_status decode_stored(struct trainer *t, const peat_batch *b, int32_t *made, struct error *err);
peat_status decode_by_fixed_point(struct trainer *t, const peat_batch *b, int32_t *made,
                                  struct error *err);
peat_status decode_by_token(struct trainer *t, const peat_batch *b, int32_t *made,
                            struct error *err);
