# SPDX-License-Identifier: MIT
"""Shaw et al. 2018, equation 4, keys alone."""
from formulas import looked_up, rows


def score_add(q, pos, pos_k, a_k, clip, causal):
    return looked_up(q, a_k, rows(pos, pos_k, clip, causal))
