# SPDX-License-Identifier: MIT
"""Wang et al. 2020, section 2: each word is r exp(i (w p + phase)) in each component."""
import torch


def encode(token, pos, weights, scale):
    r, f, phase = weights["amplitude"], weights["frequency"], weights.get("phase")
    word = token < len(r)
    row = torch.where(word, token, 0)
    angle = f[row] * pos[..., None].to(f.dtype) + (0 if phase is None else phase[row])
    return scale * r[row].repeat(1, 1, 2) * torch.cat([angle.cos(), angle.sin()], -1) * word[..., None]
