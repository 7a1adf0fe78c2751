# SPDX-License-Identifier: MIT
"""my_scheme as its paper says it: P[p, i] = sin(p base^(-i/d))."""
import torch


def encode(pos, d, base):
    i = torch.arange(d, dtype=torch.float64, device=pos.device)
    return (pos[..., None] * base ** (-i / d)).sin()
