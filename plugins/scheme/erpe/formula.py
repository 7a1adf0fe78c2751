# SPDX-License-Identifier: MIT
"""Foumani et al. 2023, eRPE: a number of each head for i - j is added behind the softmax."""
from formulas import rows


def weights(W, pos, pos_k, max_len, causal, w):
    return W + w[:, rows(pos, pos_k, max_len - 1, causal)[:, 0]].transpose(0, 1)
