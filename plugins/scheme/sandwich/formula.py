# SPDX-License-Identifier: MIT
"""Chi et al. 2023: the product of the sinusoids of i and j, times H / (8 (h + 1))."""
from formulas import count, frequencies


def bias_rel(delta, H, width, base):
    w = frequencies(base, width // 2, delta)
    return (H / (8 * (count(H, delta) + 1)))[:, None] * (delta[:, None] * w).cos().sum(-1)
