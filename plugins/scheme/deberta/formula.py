# SPDX-License-Identifier: MIT
"""He et al. 2021, equations 3 and 4: content to position and position to content."""
import torch.nn.functional as F

from formulas import distance, looked_up, looked_up_by_keys

score_terms = 2


def projected(P, W, b, H):
    return (P @ W.T + b).reshape(len(P), H, -1).transpose(0, 1)


def score_add(q, k, pos, pos_k, H, D, p, clip, projection, norm, weights, W_q, b_q, W_k, b_k):
    P = F.layer_norm(p, p.shape[-1:], weights["norm_weight"], weights["norm_shift"], 1e-7) if norm else p
    if projection == "own":
        W_q, W_k, b_q, b_k = weights["w_q"].reshape(-1, D), weights["w_k"].reshape(-1, D), 0, 0
    Q, K = projected(P, W_q, b_q, H), projected(P, W_k, b_k, H)
    row, row_back = ((d.clamp(-clip, clip - 1) + clip).long() for d in (distance(pos, pos_k), -distance(pos, pos_k)))
    return looked_up(q, K, row) + looked_up_by_keys(k, Q, row_back)
