# SPDX-License-Identifier: MIT
"""Raffel et al. 2020, section 2.1, with the buckets of the authors' code."""
import numpy as np


def bucket(m, n, max_distance):
    """Of a distance m >= 0 in a direction with n buckets."""
    e = n // 2
    far = e + np.floor((n - e) * np.log(np.maximum(m, 1) / e) / np.log(max_distance / e) + 1e-9)
    return np.where(m < e, m, np.minimum(far, n - 1)).astype(int)


def bias_rel(delta, table, buckets, max_distance, causal):
    if causal:
        return table[bucket(np.maximum(-delta, 0), buckets, max_distance)].T
    n = buckets // 2
    return table[np.where(delta > 0, n, 0) + bucket(np.abs(delta), n, max_distance)].T
