# SPDX-License-Identifier: MIT
"""Ramapuram et al. 2024, section 2: each weight is sigmoid(logit - log n)."""
import math


def softmax(S, mask, keys):
    return mask * (S - math.log(keys)).sigmoid()
