# SPDX-License-Identifier: MIT
"""Gehring et al. 2017: a trained vector for each position."""
import numpy as np


def encode(pos, table, scale, max_len, beyond, T_total):
    if beyond == "interpolate" and T_total > max_len:
        pos = pos * (max_len - 1) / (T_total - 1)
    row = np.minimum(np.floor(pos), max_len - 1).astype(int)
    part = (pos - np.floor(pos))[..., None]
    P = (1 - part) * table[row] + part * table[np.minimum(row + 1, max_len - 1)]
    return scale * np.where((pos < max_len)[..., None] | (beyond != "zero"), P, 0)
