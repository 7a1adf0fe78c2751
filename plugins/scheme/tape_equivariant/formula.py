# SPDX-License-Identifier: MIT
"""Zhu et al. 2025, section 3, as in the authors' code: rotary whose cosines and sines attention and
the layer's inputs change, each head's like every other dimension."""
import torch
import torch.nn.functional as F

from formulas import angles, frequencies, rotated


def prepare(pos, C, base):
    """Cosines and sines before the first layer are rotary's."""
    angle = angles(pos, frequencies(base, C // 2, pos))
    return [torch.cat([angle.cos(), angle.sin()], -1)]


def qkv(q, k, C, state):
    cos, sin = state[0].to(q.dtype).split(C // 2, -1)
    return rotated(q, cos, sin, "halves"), rotated(k, cos, sin, "halves")


def carry(x, W, state, layer, weights):
    gain, up, gate, down = (weights[n][layer] for n in ("gain", "up", "gate", "down"))
    e = state[0].to(x.dtype)
    e = e + gain * (W @ e)
    units = F.silu(x @ gate.T).transpose(1, 2)[..., None] * torch.einsum("sh,bhtc->bstc", up, e)
    return e + torch.einsum("hs,bstc->bhtc", down, units)
