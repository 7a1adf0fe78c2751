# SPDX-License-Identifier: MIT
"""Press et al. 2022: the slopes of ALiBi, each times a trained factor."""
from formulas import slopes


def bias_rel(delta, H, factor):
    return -factor.reshape(-1, 1) * (slopes(H, delta)[:, None] * delta.abs()).to(factor.dtype)
