# SPDX-License-Identifier: MIT
"""Li et al. 2021, section 3: W2 gelu(W1 r + b1) + b2, r the Fourier features of the position."""
import math

import torch
import torch.nn.functional as F


def encode(pos, frequency, features, hidden, weights, d):
    angle = pos[..., None].to(frequency.dtype) * frequency
    r = torch.cat([angle.cos(), angle.sin()], -1)
    if hidden == 0:
        return F.pad(r, (0, d - r.shape[-1]))
    return F.gelu(r / math.sqrt(features) @ weights["w1"] + weights["b1"]) @ weights["w2"] + weights["b2"]
