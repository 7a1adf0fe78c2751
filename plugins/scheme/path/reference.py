# SPDX-License-Identifier: MIT
"""Yang et al. 2025 (PaTH): q_i . H_i ... H_(j+1) k_j in the place of q_i . k_j."""
import numpy as np

from formulas import before, sigmoid, silu


def score_add(q, k, x_k, weights, kernel, document, pad):
    B, H, T, C = k.shape
    z = np.einsum("hcr,rd,btd->bthc", weights["up"], weights["down"], x_k).reshape(B, T, -1)
    taps = weights["taps"].reshape(kernel, -1)
    u = silu(sum(taps[s] * before(z, s, document, pad) for s in range(kernel)))
    u = u.reshape(B, T, H, C).swapaxes(1, 2)
    w = u / np.sqrt((u ** 2).sum(-1, keepdims=True) + 1e-6)  # as the authors' code
    beta = 2 * sigmoid(np.einsum("btd,hd->bht", x_k, weights["beta"])
                       + weights["beta_shift"][:, None])
    change = np.zeros((B, H, T, T))
    for j in range(T):
        key = k[:, :, j].copy()
        for i in range(j, T):
            if i > j:
                along = (w[:, :, i] * key).sum(-1, keepdims=True)
                key -= beta[:, :, i, None] * along * w[:, :, i]
            change[:, :, i, j] = (q[:, :, i] * (key - k[:, :, j])).sum(-1)
    return change
