# SPDX-License-Identifier: MIT
"""Foumani et al. 2024, tAPE: the sinusoid with frequencies base^(-2i/d) d/L."""
import numpy as np


def encode(pos, d, base, length, scale):
    n = d // 2
    angle = pos[..., None] * base ** (-2 * np.arange(n) / d) * d / length
    P = np.zeros(pos.shape + (d,))
    P[..., 0:2 * n:2], P[..., 1:2 * n:2] = np.sin(angle), np.cos(angle)
    return scale * P
