# SPDX-License-Identifier: MIT
"""Raffel et al. 2020, section 2.1, with the buckets of the authors' code."""
import math

import torch


def bucket(m, n, max_distance):
    """Of a distance m >= 0 in a direction with n buckets."""
    e = n // 2
    far = e + ((n - e) * (m.clamp(min=1) / e).log() / math.log(max_distance / e) + 1e-12).floor()
    return torch.where(m < e, m, far.clamp(max=n - 1)).long()


def bias_rel(delta, table, buckets, max_distance, causal):
    if causal:
        return table[bucket((-delta).clamp(min=0), buckets, max_distance)].T
    n = buckets // 2
    return table[torch.where(delta > 0, n, 0) + bucket(delta.abs(), n, max_distance)].T
