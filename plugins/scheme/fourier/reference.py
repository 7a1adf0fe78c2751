# SPDX-License-Identifier: MIT
"""Li et al. 2021, section 3: W2 gelu(W1 r + b1) + b2, r the Fourier features of the position."""
import math

import numpy as np


def gelu(x):
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def encode(pos, frequency, features, hidden, weights, d):
    angle = pos[..., None] * frequency
    r = np.concatenate([np.cos(angle), np.sin(angle)], -1)
    if hidden == 0:
        return np.concatenate([r, np.zeros(pos.shape + (d - r.shape[-1],))], -1)
    layer = gelu(r / math.sqrt(features) @ weights["w1"] + weights["b1"])
    return layer @ weights["w2"] + weights["b2"]
