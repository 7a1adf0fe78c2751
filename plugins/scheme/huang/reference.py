# SPDX-License-Identifier: MIT
"""Huang et al. 2020, method 4: the vector of a distance meets the query and the key."""
import numpy as np

from formulas import distance, looked_up


def score_add(q, k, pos, pos_k, a, clip, causal):
    low = 0 if causal else -clip
    row = np.clip(distance(pos, pos_k), low, clip) - low
    return looked_up(q, a, row) + looked_up(k, a, row.swapaxes(2, 3)).swapaxes(2, 3)
