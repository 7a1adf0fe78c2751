# SPDX-License-Identifier: MIT
"""Foumani et al. 2023, eRPE: a number of each head for i - j is added behind the softmax."""
import numpy as np

from formulas import distance


def weights(W, mask, pos, pos_k, max_len, causal, params, w):
    low = 0 if causal else 1 - max_len
    row = (np.maximum(distance(pos, pos_k), low) - low).astype(int)
    return W + np.moveaxis(w[:, row[:, 0]], 0, 1) * mask
