# SPDX-License-Identifier: MIT
"""Slopes of Press et al. 2022 times the steps between two places of a grid."""
import numpy as np

from formulas import distance, grid, slopes


def bias(pos, pos_k, columns, H):
    steps = sum(np.abs(distance(a, b)) for a, b in zip(grid(pos, columns), grid(pos_k, columns)))
    return -slopes(H)[:, None, None] * steps
