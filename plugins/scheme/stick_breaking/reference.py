# SPDX-License-Identifier: MIT
"""Tan et al. 2024, section 2: A_ij = z_ij times the product of 1 - z_ik over j < k < i."""
import numpy as np

from formulas import sigmoid


def softmax(S, mask, rest):
    T = S.shape[-1]
    own = np.eye(T)
    z = sigmoid(S) * mask * (1 - own)
    A, left = np.zeros(z.shape), np.ones(z.shape[:-1])
    for j in reversed(range(T)):
        A[..., j] = z[..., j] * left
        left = left * (1 - z[..., j])
    return A + (own * mask * left[..., None] if rest == "own" else 0)
