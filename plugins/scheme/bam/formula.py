# SPDX-License-Identifier: MIT
"""Bianchessi et al. 2025: the logarithm of a generalized Gaussian prior, |(j - i - mu) / alpha|^beta,
with alpha^-beta = slope exp(theta_alpha) and the authors' epsilon."""
from formulas import slopes


def bias_rel(delta, H, weights, location):
    column = lambda name: weights[name].reshape(-1, 1)
    alpha, beta = column("theta_alpha"), column("theta_beta")
    away = delta.to(alpha.dtype) - (2 * column("theta_mu").sinh() if location else 0)
    return -slopes(H, alpha).to(alpha.dtype)[:, None] * (alpha + beta * (away.abs() + 1e-5).log()).exp()
