# SPDX-License-Identifier: MIT
"""Pair i of queries and keys turns by p 10000^(-2i/C); queries are divided by sqrt(C)."""
import numpy as np


def turn(x, pos, C):
    angle = pos[:, None, :, None] * 10000 ** (-2 * np.arange(C // 2) / C)
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angle)
    return np.stack([z.real, z.imag], -1).reshape(x.shape)


def qkv(q, k, pos, pos_k, C):
    return turn(q, pos, C) / np.sqrt(C), turn(k, pos_k, C)
