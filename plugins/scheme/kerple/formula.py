# SPDX-License-Identifier: MIT
"""Chi et al. 2022: kernels of the distance with two trained numbers of each head."""
import torch


def bias_rel(delta, r1, r2, kind):
    m = delta.abs().to(r1.dtype)
    if kind == "log":
        return -r1 * (r2 * m).log1p()
    return -r1 * torch.where(m > 0, torch.where(m > 0, m, 1) ** r2, 0)  # 0 to a power has the gradient 0
