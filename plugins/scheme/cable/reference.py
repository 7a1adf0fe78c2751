# SPDX-License-Identifier: MIT
"""Veisi et al. 2025 (CABLE): a bias of -b_j, the sum of the slopes of the tokens up to j."""
import numpy as np

from formulas import softplus


def bias(x_k, weight, shift):
    slope = softplus(np.einsum("btd,hd->bht", x_k, weight) + shift[:, None])
    return np.cumsum(slope, -1)[:, :, None, :]
