# SPDX-License-Identifier: MIT
"""Chi et al. 2023: the product of the sinusoids of i and j, times H / (8 (h + 1))."""
import numpy as np


def bias_rel(delta, H, width, base):
    w = base ** (-2 * np.arange(width // 2) / width)
    return (H / (8 * (np.arange(H) + 1)))[:, None] * np.cos(delta[:, None] * w).sum(-1)
