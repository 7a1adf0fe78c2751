# SPDX-License-Identifier: MIT
"""Formulas that references of several schemes share."""
import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.logaddexp(0, x)


def silu(x):
    return x * sigmoid(x)


def normalised(x, weight, shift, eps=1e-5):
    """Layer normalisation of the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return weight * centred / np.sqrt((centred ** 2).mean(-1, keepdims=True) + eps) + shift


def distance(pos, pos_k):
    """i - j for the query at i and the key at j: [B, 1, T, T_k]."""
    return (pos[:, :, None] - pos_k[:, None, :])[:, None]


def pairs(x, layout):
    """Pairs of the last axis as complex numbers."""
    n = x.shape[-1] // 2
    return (x[..., 0::2] + 1j * x[..., 1::2] if layout == "interleaved"
            else x[..., :n] + 1j * x[..., n:])


def unpaired(z, layout):
    if layout == "halves":
        return np.concatenate([z.real, z.imag], -1)
    return np.stack([z.real, z.imag], -1).reshape(z.shape[:-1] + (-1,))


def turned(x, angle, layout):
    """x [B, H, T, 2n], of which each pair turns by its angle [B, 1|H, T, n]."""
    return unpaired(pairs(x, layout) * np.exp(1j * angle), layout)


def angles(pos, frequency):
    """[B, 1, T, n]: position times frequency [n]."""
    return (pos[..., None] * frequency)[:, None]


def before(x, s, document, pad):
    """x [B, T, n] s places earlier in its document; 0 where there is none, or padding."""
    y = np.zeros_like(x)
    T = x.shape[1]
    for t in range(max(0, s), min(T, T + s)):
        same = (document[:, t] == document[:, t - s]) & (pad[:, t - s] == 0)
        y[:, t] = np.where(same[:, None], x[:, t - s], 0)
    return y


def looked_up(q, table, index):
    """q_i . table[index_ij]: [B, H, T, T_k]."""
    scores = np.einsum("bhqc,rc->bhqr", q, table)
    index = np.broadcast_to(index, scores.shape[:3] + index.shape[3:]).astype(int)
    return np.take_along_axis(scores, index, -1)


def starts(document, pad):
    """Where a document begins: at the first place, and behind padding. [B, T]"""
    fresh = np.ones(document.shape, bool)
    fresh[:, 1:] = (document[:, 1:] != document[:, :-1]) | ((pad[:, :-1] == 1) & (pad[:, 1:] == 0))
    return fresh


def grid(pos, columns):
    """Row and column of each place of a grid that is read line by line."""
    row = np.floor(pos / columns)
    return row, pos - columns * row


def slopes(H):
    """Press et al. 2022, section 3, and for H that is not a power of two their code."""
    n = 2 ** int(np.log2(H))
    first = [2 ** (-8 * (h + 1) / n) for h in range(n)]
    return np.array((first + [2 ** (-8 * (h + 1) / (2 * n)) for h in range(0, 2 * n, 2)])[:H])
