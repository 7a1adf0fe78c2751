# SPDX-License-Identifier: MIT
"""Su et al. 2021, section 3.2.2: pair i turns by the angle p base^(-2i/d)."""
import numpy as np

from formulas import angles, turned


def turn(x, pos, d, base, layout):
    part = turned(x[..., :d], angles(pos, base ** (-2 * np.arange(d // 2) / d)), layout)
    return np.concatenate([part, x[..., d:]], -1)


def qkv(q, k, pos, pos_k, C, base, fraction, layout):
    d = 2 * int(fraction * C / 2)
    return turn(q, pos, d, base, layout), turn(k, pos_k, d, base, layout)
