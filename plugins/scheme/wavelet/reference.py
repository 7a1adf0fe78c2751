# SPDX-License-Identifier: MIT
"""Oka et al. 2025, eqs. 10 to 14: q_m . p_mn with a wavelet of m - n for each pair (a, b)."""
import numpy as np

from formulas import distance


def score_add(q, pos, pos_k, C, wavelet, scales, smallest):
    a, b = np.meshgrid(smallest * 2.0 ** np.arange(scales), np.arange(C // scales), indexing="ij")
    t = (distance(pos, pos_k)[..., None] - b.reshape(-1)) / a.reshape(-1)
    p = (1 - t ** 2) * np.exp(-t ** 2 / 2) if wavelet == "ricker" else np.exp(-t ** 2)
    return np.einsum("bhqc,bhqkc->bhqk", q, np.broadcast_to(p, q.shape[:2] + p.shape[2:]))
