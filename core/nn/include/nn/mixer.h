/* SPDX-License-Identifier: MIT */
/*
 * mixer.h: replacements of attention in a block that read a sequence in order.
 *
 * conv, a short convolution between two gates. With [q k v] = x W' + b, each of width D:
 *   y = (q * convolution(k * v)) Wo' + bo
 * Poli et al. 2023 (arXiv:2302.10866), section 3.1: their operator of order 2, with the
 * identity as its first filter and a few taps as its second. (Their own long filters are functions
 * of position: a scheme of its own.)
 *
 * rnn, a gated linear recurrence. With [z o] = x W' + b and f = sigmoid(x Wf' + bf):
 *   h_t = f_t h_(t-1) + (1 - f_t) tanh(z_t),   y = (sigmoid(o) * h) Wo' + bo
 * Bradbury et al. 2017 (arXiv:1611.01576), section 2.1: fo-pooling, at filter width 1. Unlike
 * in a GRU, no product by a matrix waits for the place before. bf starts uniform in
 * [0, log T_train): the memories of the channels spread over all lengths up to that of training
 * (Tallec and Ollivier 2018, arXiv:1804.11188).
 *
 * A causal model reads from the left: convolution sees t - K + 1 .. t. Otherwise it sees (K - 1)/2
 * places on either side, and the first half of the channels of an rnn (the larger, if D is odd)
 * reads from the left, the second from the right. Both stop at the beginning of a document and skip
 * padding.
 */
#pragma once

#include "nn/pass.h"

enum mixer { MIXER_ATTENTION, MIXER_CONV, MIXER_RNN };

struct mixer_weights {
    struct weight *in_w, *in_b;         /* conv [3D, D]: q, k, v; rnn [2D, D]: z, o; and a bias
                                         * of the same length, NULL in a model without biases */
    struct weight *forget_w, *forget_b; /* rnn [D, D], [D]; conv NULL                            */
    struct weight *taps;                /* conv [K, D]; rnn NULL                                 */
    struct weight *out_w, *out_b;       /* [D, D], [D]                                           */
};

/* "conv", "rnn"; NULL for attention. */
const char *mixer_name(enum mixer mixer);
/* x [B,T,D] (normed) -> [B,T,D], for the rows of the pass; not for attention. */
peat_node *mixer_forward(struct pass *pass, const struct mixer_weights *w, enum mixer mixer,
                         int64_t layer, peat_node *x);
