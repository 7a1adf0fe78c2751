# SPDX-License-Identifier: MIT
"""Vaswani et al. 2017, section 3.5: PE(pos, 2i) = sin(pos / base^(2i/d)), PE(pos, 2i+1) its cosine."""
import numpy as np


def encode(pos, d, base, scale, layout, frequencies):
    i = np.arange(d // 2)
    exponent = 2 * i / d if frequencies == "paper" else i / max(d // 2 - 1, 1)
    angle = pos[..., None] / base ** exponent
    P = np.zeros(pos.shape + (d,))
    if layout == "interleaved":
        P[..., 0:2 * len(i):2], P[..., 1:2 * len(i):2] = np.sin(angle), np.cos(angle)
    else:
        P[..., :len(i)], P[..., len(i):2 * len(i)] = np.sin(angle), np.cos(angle)
    return scale * P
