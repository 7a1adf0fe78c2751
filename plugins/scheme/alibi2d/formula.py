# SPDX-License-Identifier: MIT
"""Slopes of Press et al. 2022 times the steps between two places of a grid."""
from formulas import distance, grid, slopes

max_axes = 2


def bias(pos, pos_k, columns, H):
    steps = sum(distance(a, b).abs() for a, b in zip(grid(pos, columns), grid(pos_k, columns)))
    return -slopes(H, pos)[:, None, None] * steps
