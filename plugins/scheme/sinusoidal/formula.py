# SPDX-License-Identifier: MIT
"""Vaswani et al. 2017, section 3.5: PE(pos, 2i) = sin(pos / base^(2i/d)), PE(pos, 2i+1) its cosine."""
from formulas import count, sinusoids


def encode(pos, d, base, scale, layout, frequencies):
    i = count(d // 2, pos)
    exponent = 2 * i / d if frequencies == "paper" else i / max(d // 2 - 1, 1)
    return scale * sinusoids(pos[..., None] / base ** exponent, d, layout)
