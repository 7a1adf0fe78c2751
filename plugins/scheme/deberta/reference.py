# SPDX-License-Identifier: MIT
"""He et al. 2021, equations 3 and 4: content to position and position to content."""
import numpy as np

from formulas import distance, normalised


def projected(P, W, b, H):
    return (P @ W.T + b).reshape(len(P), H, -1).swapaxes(0, 1)


def row(d, clip, buckets, max_distance):
    middle, last = clip // 2, max_distance - 1
    if buckets == "log":
        far = np.maximum(np.minimum(abs(d), last), middle)
        late = np.ceil(np.log(far / middle) / np.log(last / middle) * (middle - 1))
        d = np.where(abs(d) <= middle, d, np.sign(d) * (middle + late))
    return (np.clip(d, -clip, clip - 1) + clip).astype(int)


def score_add(q, k, pos, pos_k, H, D, p, clip, projection, query_bias, p2c, buckets, max_distance, norm,
              weights, W_q, b_q, W_k, b_k):
    P = normalised(p, weights["norm_weight"], weights["norm_shift"], 1e-7) if norm else p
    if projection == "own":
        W_q, W_k = weights["w_q"].reshape(-1, D), weights["w_k"].reshape(-1, D)
        b_q, b_k = weights["b_q"].reshape(-1) if query_bias else 0, 0
    Q, K = projected(P, W_q, b_q, H), projected(P, W_k, b_k, H)
    d, B, T, T_k = distance(pos, pos_k), len(q), q.shape[2], k.shape[2]
    of_key = np.broadcast_to(row(d, clip, buckets, max_distance), (B, H, T, T_k))
    of_query = np.broadcast_to(row(d if p2c == "released" else -d, clip, buckets, max_distance), (B, H, T, T_k))
    to_position, to_content = np.einsum("bhqc,hrc->bhqr", q, K), np.einsum("bhkc,hrc->bhkr", k, Q)
    return (np.take_along_axis(to_position, of_key, -1)
            + np.take_along_axis(to_content, of_query.swapaxes(2, 3), -1).swapaxes(2, 3))
