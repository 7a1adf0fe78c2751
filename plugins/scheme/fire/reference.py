# SPDX-License-Identifier: MIT
"""Li et al. 2024, section 3: f(psi(i - j) / psi(max(i, L))), psi(x) = log(c x + 1)."""
import numpy as np

from formulas import distance


def bias(pos, pos_k, c, threshold, init_threshold, w1, b1, w2):
    far = np.maximum(pos, init_threshold * threshold)[:, None, :, None]
    x = np.log(c * np.abs(distance(pos, pos_k)) + 1) / np.log(c * far + 1)
    hidden = np.maximum(x[..., None] * w1 + b1, 0)
    return np.einsum("bzqkw,hw->bhqk", hidden, w2)
