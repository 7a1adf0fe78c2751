# SPDX-License-Identifier: MIT
"""Zheng et al. 2024 (DAPE): S + B + f(S, B), f a small network over the heads."""
import numpy as np


def logits(S, bias, w_score, w_bias, b1, w2, slope):
    bias = np.broadcast_to(bias, S.shape)
    hidden = (np.einsum("wh,bhqk->bwqk", w_score, S) + np.einsum("wh,bhqk->bwqk", w_bias, bias)
              + b1[:, :, None])
    return S + bias + np.einsum("hw,bwqk->bhqk", w2, np.maximum(hidden, slope * hidden))
