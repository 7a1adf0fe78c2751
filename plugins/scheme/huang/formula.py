# SPDX-License-Identifier: MIT
"""Huang et al. 2020, method 4: the vector of a distance meets the query and the key."""
from formulas import looked_up, looked_up_by_keys, rows


def score_add(q, k, pos, pos_k, a, clip, causal):
    row = rows(pos, pos_k, clip, causal)
    return looked_up(q, a, row) + looked_up_by_keys(k, a, row)
