# SPDX-License-Identifier: MIT
"""Barbero et al. 2024: rotary whose slowest pairs stand still."""
import numpy as np

from formulas import angles, turned


def qkv(q, k, pos, pos_k, C, fraction, base, layout):
    n = C // 2
    w = np.where(np.arange(n) < np.floor(fraction * n), base ** (-np.arange(n) / n), 0)
    return turned(q, angles(pos, w), layout), turned(k, angles(pos_k, w), layout)
