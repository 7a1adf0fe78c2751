# SPDX-License-Identifier: MIT
"""Chen et al. 2021, section 3: a number of each head for i - j."""
import numpy as np


def bias_rel(delta, r, max_len, causal):
    low = 0 if causal else 1 - max_len
    return r[(np.maximum(-delta, low) - low).astype(int)].T
