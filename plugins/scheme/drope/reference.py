# SPDX-License-Identifier: MIT
"""Gelberg et al. 2025: rotary positions (Su et al. 2021) up to a step of training, then none."""
import numpy as np

from formulas import angles, turned


def qkv(q, k, pos, pos_k, C, layout, base, after, trained_step):
    if trained_step > after:
        return q, k
    w = base ** (-2 * np.arange(C // 2) / C)
    turn = lambda x, p: np.concatenate([turned(x[..., :C], angles(p, w), layout), x[..., C:]], -1)
    return turn(q, pos), turn(k, pos_k)
