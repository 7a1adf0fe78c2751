# SPDX-License-Identifier: MIT
"""W (x + a (p_1 + p_2 + ...)) + b."""
import numpy as np


def merge(x, weight, bias, position_scale):
    y = (x[0] + position_scale * sum(x[1:])) @ weight.T
    return y + (bias if isinstance(bias, np.ndarray) else 0)
