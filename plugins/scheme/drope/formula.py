# SPDX-License-Identifier: MIT
"""Gelberg et al. 2025: rotary positions (Su et al. 2021) up to a step of training, then none."""
from formulas import angles, frequencies, turned


def qkv(q, k, pos, pos_k, C, layout, base, after, trained_step):
    if trained_step > after:
        return q, k
    w = frequencies(base, C // 2, pos)
    return turned(q, angles(pos, w), layout), turned(k, angles(pos_k, w), layout)
