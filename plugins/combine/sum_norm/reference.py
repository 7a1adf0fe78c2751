# SPDX-License-Identifier: MIT
"""Devlin et al. 2019: layer normalisation of the sum."""
import numpy as np


def merge(x, weight, bias, eps):
    u = sum(x)
    u = u - u.mean(-1, keepdims=True)
    return weight * u / np.sqrt((u ** 2).mean(-1, keepdims=True) + eps) + bias
