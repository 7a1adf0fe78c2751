# SPDX-License-Identifier: MIT
"""[x; 0] + [0; p_1 + p_2 + ...]: tokens have the first dimensions, positions the last."""
import numpy as np


def merge(x, D):
    p = sum(x[1:])
    y = np.zeros(x[0].shape[:2] + (D,))
    y[..., :x[0].shape[-1]] += x[0]
    y[..., D - p.shape[-1]:] += p
    return y
