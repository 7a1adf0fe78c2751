# SPDX-License-Identifier: MIT
"""Heo et al. 2024: angles of row and column, axial or with trained frequencies (RoPE-Mixed)."""
import numpy as np

from formulas import grid, turned


def turn(x, pos, columns, learned, weights, base):
    row, column = (a[:, None, :, None] for a in grid(pos, columns))
    if learned:
        angle = column * weights["by_column"][:, None] + row * weights["by_row"][:, None]
    else:
        n = x.shape[-1] // 4
        w = base ** (-np.arange(n) / n)
        angle = np.concatenate([column * w, row * w], -1)
    return turned(x, angle, "interleaved")


def qkv(q, k, pos, pos_k, columns, learned, weights, base):
    if base == "auto":
        base = 100
    return (turn(q, pos, columns, learned, weights, base),
            turn(k, pos_k, columns, learned, weights, base))
