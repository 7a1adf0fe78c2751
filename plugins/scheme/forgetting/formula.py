# SPDX-License-Identifier: MIT
"""Lin et al. 2025: a bias of F_i - F_j, F the sum of the logarithms of forget gates; F_i cancels."""
import torch.nn.functional as F

from formulas import by_head


def bias(x_k, weight, shift):
    gate = F.logsigmoid(by_head(x_k, weight) + shift[:, None])
    return -gate.cumsum(-1)[:, :, None, :]
