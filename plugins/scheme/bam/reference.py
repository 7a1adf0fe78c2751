# SPDX-License-Identifier: MIT
"""Bianchessi et al. 2025: the logarithm of a generalized Gaussian prior, |(j - i - mu) / alpha|^beta,
with alpha^-beta = slope exp(theta_alpha) and the authors' epsilon."""
import numpy as np

from formulas import slopes


def bias_rel(delta, H, weights, location):
    column = lambda name: weights[name].reshape(-1, 1)
    mu = 2 * np.sinh(column("theta_mu")) if location else 0
    scale = slopes(H)[:, None] * np.exp(column("theta_alpha"))
    return -scale * (np.abs(delta - mu) + 1e-5) ** column("theta_beta")
