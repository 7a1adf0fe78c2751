# SPDX-License-Identifier: MIT
"""Li et al. 2024, section 3: f(psi(i - j) / psi(max(i, L))), psi(x) = log(c x + 1)."""
import torch

from formulas import distance


def bias(pos, pos_k, c, threshold, init_threshold, w1, b1, w2):
    i, least = pos[:, None, :, None].to(c.dtype), init_threshold * threshold
    far = torch.where(i >= least, i, least)
    x = (c * distance(pos, pos_k).abs().to(c.dtype)).log1p() / (c * far).log1p()
    hidden = (x[..., None] * w1 + b1).relu()
    return (hidden @ w2.T)[:, 0].permute(0, 3, 1, 2)
