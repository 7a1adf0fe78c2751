# SPDX-License-Identifier: MIT
"""W (x + a (p_1 + p_2 + ...)) + b."""


def merge(x, weights, position_scale):
    return (x[0] + position_scale * sum(x[1:])) @ weights["weight"].T + weights.get("bias", 0)
