# SPDX-License-Identifier: MIT
"""Heo et al. 2024: angles of row and column, axial or with trained frequencies (RoPE-Mixed)."""
import torch

from formulas import frequencies, grid, turned

max_axes = 2


def turn(x, pos, C, columns, learned, weights, base):
    row, column = (a[:, None, :, None] for a in grid(pos, columns))
    if learned:
        angle = column * weights["by_column"][:, None] + row * weights["by_row"][:, None]
    else:
        w = frequencies(100 if base == "auto" else base, C // 4, pos)
        angle = torch.cat([column * w, row * w], -1)
    return turned(x, angle, "interleaved")


def qkv(q, k, pos, pos_k, C, columns, learned, weights, base):
    return turn(q, pos, C, columns, learned, weights, base), turn(k, pos_k, C, columns, learned, weights, base)
