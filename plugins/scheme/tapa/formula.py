# SPDX-License-Identifier: MIT
"""Wang et al. 2025, eq. 12: q_A . k_A / sqrt(theta D) cos(2 pi |m - n|^alpha q_P . k_P /
sqrt((1 - theta) D)). The host makes the scores, divides them by sqrt(D) and gives them as S."""
import math

from formulas import count, distance


def qkv(q, k, C, theta):
    at, A = count(q.shape[-1], q), int(theta * C)
    return math.sqrt(C / A) * q * ((at < A) | (at >= C)), k


def logits(S, q, k, pos, pos_k, C, alpha, theta, bias=None):
    A = int(theta * C)
    far = 2 * math.pi / math.sqrt(C - A) * distance(pos, pos_k).abs() ** alpha
    S = S * (far.to(S.dtype) * (q[..., A:] @ k[..., A:].transpose(2, 3))).cos()
    return S if bias is None else S + bias
