# SPDX-License-Identifier: MIT
"""Wang et al. 2025, eq. 12: q_A . k_A / sqrt(theta D) cos(2 pi |m - n|^alpha q_P . k_P /
sqrt((1 - theta) D)). The host makes the scores, divides them by sqrt(D) and gives them as S."""
import numpy as np

from formulas import distance


def qkv(q, k, C, theta):
    part = np.where(np.arange(q.shape[-1]) < int(theta * C), 1, 0)
    part = np.where(np.arange(q.shape[-1]) < C, part, 1)
    return np.sqrt(C / int(theta * C)) * part * q, k


def logits(S, bias, q, k, pos, pos_k, C, alpha, theta):
    A = int(theta * C)
    phase = np.einsum("bhqc,bhkc->bhqk", q[..., A:], k[..., A:]) / np.sqrt(C - A)
    S = S * np.cos(2 * np.pi * np.abs(distance(pos, pos_k)) ** alpha * phase)
    return S if bias is None else S + bias
