# SPDX-License-Identifier: MIT
"""Vaswani et al. 2017 on the row and the column of a grid, as in He et al. 2021."""
import torch

from formulas import frequencies, grid

max_axes = 2


def encode(pos, columns, base, d):
    angle = grid(pos, columns)[..., None] * frequencies(base, d // 4, pos)
    return torch.cat([f(a) for a in angle for f in (torch.sin, torch.cos)], -1)
