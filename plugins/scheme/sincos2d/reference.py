# SPDX-License-Identifier: MIT
"""Vaswani et al. 2017 on the row and the column of a grid, as in He et al. 2021."""
import numpy as np

from formulas import grid


def encode(pos, columns, base, d):
    w = base ** (-np.arange(d // 4) / (d // 4))
    angle = [a[..., None] * w for a in grid(pos, columns)]
    return np.concatenate([f(a) for a in angle for f in (np.sin, np.cos)], -1)
