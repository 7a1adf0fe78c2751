# SPDX-License-Identifier: MIT
"""Shaw et al. 2018, equation 4, keys alone."""
import numpy as np

from formulas import distance, looked_up


def score_add(q, pos, pos_k, a_k, clip, causal):
    low = 0 if causal else -clip
    return looked_up(q, a_k, np.clip(distance(pos, pos_k), low, clip) - low)
