# SPDX-License-Identifier: MIT
"""Ramapuram et al. 2024, section 2: each weight is sigmoid(logit - log n)."""
import numpy as np


def softmax(S, mask, keys):
    return mask / (1 + np.exp(-(S - np.log(keys))))
