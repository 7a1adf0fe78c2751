# SPDX-License-Identifier: MIT
"""Vaswani et al. 2017, section 3.5: a x + b (p_1 + p_2 + ...)."""

min_streams = 1


def merge(x, token_scale, position_scale, learned, weights):
    if len(x) == 1:
        return x[0]
    if learned:
        return sum(w * s for w, s in zip(weights.values(), x))
    return token_scale * x[0] + position_scale * sum(x[1:])
