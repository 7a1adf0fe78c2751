# SPDX-License-Identifier: MIT
"""Foumani et al. 2024, tAPE: the sinusoid with frequencies base^(-2i/d) d/L."""
from formulas import count, sinusoids


def encode(pos, d, base, length, scale):
    w = base ** (-2 * count(d // 2, pos) / d) * d / length
    return scale * sinusoids(pos[..., None] * w, d, "interleaved")
