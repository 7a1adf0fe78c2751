# SPDX-License-Identifier: MIT
"""Gopalakrishnan et al. 2025 (PoPE): content is the magnitude, position the angle."""
import numpy as np

from formulas import angles, softplus


def qkv(q, k, pos, pos_k, phase, base, C):
    w = base ** (-np.arange(C) / C)
    q = softplus(q) * np.exp(1j * angles(pos, w))
    k = softplus(k) * np.exp(1j * (angles(pos_k, w) + phase[:, None]))
    return np.concatenate([q.real, q.imag], -1), np.concatenate([k.real, k.imag], -1)
