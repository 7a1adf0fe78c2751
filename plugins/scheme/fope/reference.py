# SPDX-License-Identifier: MIT
"""Hua et al. 2024: cosines and sines that are mixtures of rotary's frequencies."""
import numpy as np


def turn(x, pos, cosine, sine, base):
    n = x.shape[-1] // 2
    w = base ** (-np.arange(cosine.shape[1]) / n)
    m = cosine.shape[2]
    first = np.eye(len(w))[:, np.arange(m) * -(-len(w) // m)]  # the tensors are what is added to it
    mixed_cos = np.einsum("btj,hjm->bhtm", np.cos(pos[..., None] * w), first + cosine)
    mixed_sin = np.einsum("btj,hjm->bhtm", np.sin(pos[..., None] * w), first + sine)
    a, b = x[..., :m], x[..., n:n + m]
    return np.concatenate([a * mixed_cos - b * mixed_sin, x[..., m:n],
                           a * mixed_sin + b * mixed_cos, x[..., n + m:]], -1)


def qkv(q, k, pos, pos_k, cosine, sine, base, C, T_train):
    full_turns = (base ** (-np.arange(C // 2) / (C // 2)) >= 2 * np.pi / T_train).sum()
    assert cosine.shape[1:] == (max(full_turns, 1), min(max(full_turns, 1), max(C // 4, 1)))
    return turn(q, pos, cosine, sine, base), turn(k, pos_k, cosine, sine, base)
