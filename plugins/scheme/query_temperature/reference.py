# SPDX-License-Identifier: MIT
"""Llama 4's temperature tuning: queries times 1 + scale log(1 + floor((p + 1) / floor))."""
import numpy as np


def qkv(q, k, pos, floor, scale):
    factor = 1 + scale * np.log(1 + np.floor((np.maximum(pos, 0) + 1) / floor))
    return q * factor[:, None, :, None], k
