# SPDX-License-Identifier: MIT
"""Lin et al. 2025: a bias of F_i - F_j, F the sum of the logarithms of forget gates; F_i cancels."""
import numpy as np

from formulas import sigmoid


def bias(x_k, weight, shift):
    gate = sigmoid(np.einsum("btd,hd->bht", x_k, weight) + shift[:, None])
    return -np.cumsum(np.log(gate), -1)[:, :, None, :]
