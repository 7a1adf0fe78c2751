# SPDX-License-Identifier: MIT
"""Chen et al. 2021, section 3: a number of each head for i - j."""


def bias_rel(delta, r, max_len, causal):
    low = 0 if causal else 1 - max_len
    return r[((-delta).clamp(low, max_len - 1) - low).long()].T
