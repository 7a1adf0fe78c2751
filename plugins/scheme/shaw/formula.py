# SPDX-License-Identifier: MIT
"""Shaw et al. 2018, equations 3 and 4: vectors of the distance are added to keys and values."""
from formulas import looked_up, rows


def score_add(q, pos, pos_k, clip, causal, keys, weights):
    return looked_up(q, weights["a_k"], rows(pos, pos_k, clip, causal)) if keys else q.new_zeros(1, 1, 1, 1)


def context(o, W, pos, pos_k, clip, causal, a_v):
    """The weights of each distance are summed first: [B, H, T, rows] in the place of [B, T, T_k, C]."""
    row = rows(pos, pos_k, clip, causal).expand_as(W)
    return o + W.new_zeros(*W.shape[:3], len(a_v)).scatter_add(-1, row, W) @ a_v
