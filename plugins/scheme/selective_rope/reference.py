# SPDX-License-Identifier: MIT
"""Movahedi et al. 2025, sections 3.3 and 4.1: angles are sums over tokens of chosen angles."""
import numpy as np

from formulas import before, sigmoid, turned


def turns(x, weights, H, C, kernel, base, gate, document, pad):
    B, T, n = len(x), x.shape[1], C // 2
    heads = x.reshape(B, T, H, -1)
    size = np.sqrt((heads ** 2).sum(-1, keepdims=True) + 1e-6)  # as the authors' code
    u = (heads / size).reshape(x.shape)
    z = np.einsum("hnr,rd,btd->bthn", weights["up"], weights["down"], u).reshape(B, T, -1)
    taps = weights["taps"].reshape(kernel, -1)
    phi = sum(taps[s] * before(z, s, document, pad) for s in range(kernel))
    phi = phi.reshape(B, T, H, n).swapaxes(1, 2)
    if gate:
        phi = phi * sigmoid(np.einsum("btd,hd->bht", u, weights["gate"])
                            + weights["gate_shift"][:, None])[..., None]
    return base ** (-np.arange(n) / n) * np.cumsum(phi, 2)


def qkv(q, k, x_q, params, weights, H, C, kernel, base, document, pad):
    angle = turns(x_q, weights, H, C, kernel, base, params["gate"], document, pad)
    return turned(q, angle, "halves"), turned(k, angle, "halves")
