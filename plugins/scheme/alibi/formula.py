# SPDX-License-Identifier: MIT
"""Press et al. 2022, section 3: a bias of -slope_h |j - i|."""
from formulas import slopes


def bias_rel(delta, H):
    return -slopes(H, delta)[:, None] * delta.abs()
