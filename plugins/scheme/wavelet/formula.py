# SPDX-License-Identifier: MIT
"""Oka et al. 2025, eqs. 10 to 14: q_m . p_mn with a wavelet of m - n for each pair (a, b)."""
from formulas import count, distance, looked_up


def score_add(q, pos, pos_k, C, wavelet, scales, smallest):
    far, row = distance(pos, pos_k).unique(return_inverse=True)  # every distance once
    a, b = smallest * 2 ** count(scales, pos)[:, None], count(C // scales, pos)
    t = ((far[:, None, None] - b) / a).flatten(1)
    p = (1 - t ** 2) * (-t ** 2 / 2).exp() if wavelet == "ricker" else (-t ** 2).exp()
    return looked_up(q, p, row)
