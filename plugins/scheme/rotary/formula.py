# SPDX-License-Identifier: MIT
"""Su et al. 2021, section 3.2.2: pair i turns by the angle p base^(-2i/d)."""
from formulas import angles, frequencies, turned


def qkv(q, k, pos, pos_k, C, base, fraction, layout):
    w = frequencies(base, int(fraction * C / 2), pos)
    return turned(q, angles(pos, w), layout), turned(k, angles(pos_k, w), layout)
