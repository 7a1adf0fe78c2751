# SPDX-License-Identifier: MIT
"""Golovneva et al. 2024, equations 2 to 4: positions are sums of the query's gates."""
import numpy as np

from formulas import sigmoid


def logits(S, q, e, positions, mask):
    gate = sigmoid(S) * mask
    p = np.minimum(np.cumsum(gate[..., ::-1], -1)[..., ::-1], positions - 1)
    n = np.floor(p).astype(int)
    z = np.einsum("bhqc,nc->bhqn", q, e)
    low = np.take_along_axis(z, n, -1)
    high = np.take_along_axis(z, np.minimum(n + 1, positions - 1), -1)
    return S + (1 - (p - n)) * low + (p - n) * high
