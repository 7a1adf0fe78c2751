# SPDX-License-Identifier: MIT
"""Barbero et al. 2024: rotary whose slowest pairs stand still."""
from formulas import angles, count, frequencies, turned


def qkv(q, k, pos, pos_k, C, fraction, base, layout):
    n = C // 2
    w = frequencies(base, n, pos) * (count(n, pos) < int(fraction * n))
    return turned(q, angles(pos, w), layout), turned(k, angles(pos_k, w), layout)
