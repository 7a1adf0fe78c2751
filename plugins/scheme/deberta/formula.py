# SPDX-License-Identifier: MIT
"""He et al. 2021, equations 3 and 4: content to position and position to content."""
import math

import torch
import torch.nn.functional as F

from formulas import distance, looked_up, looked_up_by_keys

score_terms = 2


def projected(P, W, b, H):
    return (P @ W.T + b).reshape(len(P), H, -1).transpose(0, 1)


def row(d, clip, buckets, max_distance):
    middle, last = clip // 2, max_distance - 1
    if buckets == "log":
        far = d.abs().clamp(middle, last)
        late = ((far / middle).log() / math.log(last / middle) * (middle - 1)).ceil()
        d = torch.where(d.abs() <= middle, d, d.sign() * (middle + late))
    return (d.clamp(-clip, clip - 1) + clip).long()


def score_add(q, k, pos, pos_k, H, D, p, clip, projection, norm, weights, W_q, b_q, W_k, b_k,
              p2c="paper", query_bias=False, buckets="linear", max_distance=0):  # what cells of version 1.0 lack
    P = F.layer_norm(p, p.shape[-1:], weights["norm_weight"], weights["norm_shift"], 1e-7) if norm else p
    if projection == "own":
        W_q, W_k = weights["w_q"].reshape(-1, D), weights["w_k"].reshape(-1, D)
        b_q, b_k = weights["b_q"].reshape(-1) if query_bias else 0, 0
    Q, K = projected(P, W_q, b_q, H), projected(P, W_k, b_k, H)
    d = distance(pos, pos_k)
    of_key = row(d, clip, buckets, max_distance)
    of_query = row(d if p2c == "released" else -d, clip, buckets, max_distance)
    return looked_up(q, K, of_key) + looked_up_by_keys(k, Q, of_query)
