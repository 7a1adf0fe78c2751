# SPDX-License-Identifier: MIT
"""A query and a key d places apart get -slope d / (1 + d)."""
import numpy as np


def bias(pos, pos_k, slope):
    d = np.abs(pos[:, None, :, None] - pos_k[:, None, None, :])
    return -slope * d / (1 + d)
