# SPDX-License-Identifier: MIT
"""He et al. 2021, equations 3 and 4: content to position and position to content."""
import numpy as np

from formulas import distance, normalised


def projected(P, W, b, H):
    return (P @ W.T + b).reshape(len(P), H, -1).swapaxes(0, 1)


def score_add(q, k, pos, pos_k, H, D, p, clip, projection, norm, weights, W_q, b_q, W_k, b_k):
    P = normalised(p, weights["norm_weight"], weights["norm_shift"], 1e-7) if norm else p
    if projection == "own":
        W_q, W_k, b_q, b_k = weights["w_q"].reshape(-1, D), weights["w_k"].reshape(-1, D), 0, 0
    Q, K = projected(P, W_q, b_q, H), projected(P, W_k, b_k, H)
    row = (np.clip(distance(pos, pos_k), -clip, clip - 1) + clip).astype(int)
    row_back = (np.clip(-distance(pos, pos_k), -clip, clip - 1) + clip).astype(int)
    c2p, p2c = np.einsum("bhqc,hrc->bhqr", q, K), np.einsum("bhkc,hrc->bhkr", k, Q)
    B, T, T_k = len(q), q.shape[2], k.shape[2]
    row = np.broadcast_to(row, (B, H, T, T_k))
    row_back = np.broadcast_to(row_back, (B, H, T, T_k)).swapaxes(2, 3)
    return (np.take_along_axis(c2p, row, -1)
            + np.take_along_axis(p2c, row_back, -1).swapaxes(2, 3))
