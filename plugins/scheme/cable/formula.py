# SPDX-License-Identifier: MIT
"""Veisi et al. 2025 (CABLE): a bias of -b_j, the sum of the slopes of the tokens up to j."""
import torch.nn.functional as F

from formulas import by_head


def bias(x_k, weight, shift):
    slope = F.softplus(by_head(x_k, weight) + shift[:, None], threshold=50)
    return slope.cumsum(-1)[:, :, None, :]
