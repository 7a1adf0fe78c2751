# SPDX-License-Identifier: MIT
"""Ostmeier et al. 2024, section 3: blocks are multiplied by exp(p A), A skew-symmetric."""
import numpy as np


def turn(x, pos, generator, block):
    i, j = np.triu_indices(block, 1)
    A = np.zeros((len(generator), block, block))
    A[:, i, j] = generator
    values, vectors = np.linalg.eigh(1j * (A - A.swapaxes(1, 2)))
    phase = np.exp(-1j * pos[..., None, None] * values)
    M = ((vectors[None, None] * phase[..., None, :]) @ vectors.conj().swapaxes(1, 2)).real
    blocks = x.reshape(x.shape[:-1] + (-1, block))
    return np.einsum("btnij,bhtnj->bhtni", np.broadcast_to(M, x.shape[:1] + M.shape[1:]),
                     blocks).reshape(x.shape)


def qkv(q, k, pos, pos_k, generator, C):
    block = C // len(generator)
    return turn(q, pos, generator, block), turn(k, pos_k, generator, block)
